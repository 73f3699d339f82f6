// Scales a signal by what the app says. The compiler makes a kernel of the product, for each kind of CPU.
module @scale {
  func.func private @app.factor(i32) -> f32

  func.func @scale(%signal: tensor<?xf32>, %channel: i32) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %factor = call @app.factor(%channel) : (i32) -> f32
    %count = tensor.dim %signal, %zero : tensor<?xf32>
    %factors = tensor.splat %factor[%count] : tensor<?xf32>
    %scaled = arith.mulf %signal, %factors : tensor<?xf32>
    return %scaled : tensor<?xf32>
  }
}
