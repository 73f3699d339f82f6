// A small program of one dispatch: what a start of a tool costs beside running it.
func.func @multiply(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %product = arith.mulf %a, %b : tensor<4xf32>
  return %product : tensor<4xf32>
}
