// main(x) = 2 * plus_one(x): a call between device work, which gets a tensor in place and gives one in place.
module @called {
  func.func private @add_one.plus_one(tensor<?xf32>) -> tensor<?xf32>

  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %y = call @add_one.plus_one(%x) : (tensor<?xf32>) -> tensor<?xf32>
    %z = arith.addf %y, %y : tensor<?xf32>
    return %z : tensor<?xf32>
  }
}
