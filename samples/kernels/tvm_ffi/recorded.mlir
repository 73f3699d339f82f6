// main(x) = 2 * add_one(x): a kernel of the compiler and the function in one recording. A result of a command is one
// more tensor that it gets, to write into: what functions of TVM-FFI take.
module @recorded {
  func.func private @add_one.add_one(tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}

  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = call @add_one.add_one(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = arith.addf %y, %y : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}
