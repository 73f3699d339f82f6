// Functions of a program that Python calls through TVM-FFI.
module @exports {
  func.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %z = arith.addf %x, %y : tensor<?xf32>
    return %z : tensor<?xf32>
  }
  func.func @both(%x: tensor<?xf32>, %n: i32, %f: f64) -> (tensor<?xf32>, i32, f64) {
    %z = arith.addf %x, %x : tensor<?xf32>
    return %z, %n, %f : tensor<?xf32>, i32, f64
  }
  func.func @pick(%x: tensor<?xf32>, %i: index) -> f32 {
    %picked = tensor.extract %x[%i] : tensor<?xf32>
    return %picked : f32
  }
  func.func @same_i8(%x: tensor<4xi8>) -> tensor<4xi8> {
    return %x : tensor<4xi8>
  }
  // Gives what it was given the last time.
  util.global private mutable @kept = dense<0.0> : tensor<3xf32>
  func.func @swap(%x: tensor<3xf32>) -> tensor<3xf32> {
    %before = util.global.load @kept : tensor<3xf32>
    util.global.store %x, @kept : tensor<3xf32>
    return %before : tensor<3xf32>
  }
  // Keeps the first as @swap does, and gives back the second.
  func.func @keep_first(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
    util.global.store %x, @kept : tensor<3xf32>
    return %y : tensor<3xf32>
  }
  func.func @line(%n: i32, %big: i64, %f: f64, %g: f32) -> f64 {
    %a = arith.sitofp %n : i32 to f64
    %b = arith.sitofp %big : i64 to f64
    %c = arith.extf %g : f32 to f64
    %ab = arith.addf %a, %b : f64
    %cf = arith.mulf %c, %f : f64
    %r = arith.addf %ab, %cf : f64
    return %r : f64
  }
  func.func @next(%n: i32) -> i32 {
    %one = arith.constant 1 : i32
    %r = arith.addi %n, %one : i32
    return %r : i32
  }
}
