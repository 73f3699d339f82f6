// A signal without what its sensor reads at rest, which the app tells. The compiler makes a kernel of the difference.
module @calibrate {
  func.func private @sensors.read(i32) -> f64

  func.func @calibrate(%signal: tensor<?xf32>, %sensor: i32) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %reading = call @sensors.read(%sensor) : (i32) -> f64
    %rest = arith.truncf %reading : f64 to f32
    %count = tensor.dim %signal, %zero : tensor<?xf32>
    %rests = tensor.splat %rest[%count] : tensor<?xf32>
    %calibrated = arith.subf %signal, %rests : tensor<?xf32>
    return %calibrated : tensor<?xf32>
  }
}
