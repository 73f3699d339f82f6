// main(x) = square(custom.call.async(square(x))) with nobody waiting in between: compile with --execution-model=async-external.
module @example {
  func.func private @custom.call.async(tensor<?xi32>) -> tensor<?xi32>
      attributes {iree.abi.model = "coarse-fences", nosideeffects}

  func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
    %square = arith.muli %x, %x : tensor<?xi32>
    %doubled = call @custom.call.async(%square) : (tensor<?xi32>) -> tensor<?xi32>
    %result = arith.muli %doubled, %doubled : tensor<?xi32>
    return %result : tensor<?xi32>
  }
}
