// A number of every type, in and out, that Python passes through TVM-FFI.
module @numbers {
  func.func @same_i1(%x: i1) -> i1 {
    return %x : i1
  }
  func.func @same_i8(%x: i8) -> i8 {
    return %x : i8
  }
  func.func @same_i16(%x: i16) -> i16 {
    return %x : i16
  }
  func.func @same_i32(%x: i32) -> i32 {
    return %x : i32
  }
  func.func @same_i64(%x: i64) -> i64 {
    return %x : i64
  }
  func.func @same_f16(%x: f16) -> f16 {
    return %x : f16
  }
  func.func @same_bf16(%x: bf16) -> bf16 {
    return %x : bf16
  }
  func.func @same_f32(%x: f32) -> f32 {
    return %x : f32
  }
  func.func @same_f64(%x: f64) -> f64 {
    return %x : f64
  }
  func.func @twice_f16(%x: f16) -> f16 {
    %y = arith.addf %x, %x : f16
    return %y : f16
  }
  func.func @twice_bf16(%x: bf16) -> bf16 {
    %y = arith.addf %x, %x : bf16
    return %y : bf16
  }
  func.func @all(%x: tensor<?xf32>, %a: i1, %b: i8, %c: bf16, %d: f16, %e: i64) -> (f16, i8, tensor<?xf32>, i1, bf16, i64) {
    return %d, %b, %x, %a, %c, %e : f16, i8, tensor<?xf32>, i1, bf16, i64
  }
}
