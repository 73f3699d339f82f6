// Calls a function of TVM-FFI that calls what Python names "baton_test.back".
module @round_trip {
  func.func private @functions.call_back(i64) -> i64
  func.func @numbers(%n: i64) -> i64 {
    %r = call @functions.call_back(%n) : (i64) -> i64
    return %r : i64
  }
  func.func @tensors(%x: tensor<2xf32>, %n: i64) -> tensor<2xf32> {
    %r = call @functions.call_back(%n) : (i64) -> i64
    return %x : tensor<2xf32>
  }
}
