// main(x) = square(custom.call.sync(square(x))): device work, a function of the host that blocks, device work.
module @example {
  func.func private @custom.call.sync(tensor<?xi32>) -> tensor<?xi32>

  func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
    %square = arith.muli %x, %x : tensor<?xi32>
    %doubled = call @custom.call.sync(%square) : (tensor<?xi32>) -> tensor<?xi32>
    %result = arith.muli %doubled, %doubled : tensor<?xi32>
    return %result : tensor<?xi32>
  }
}
