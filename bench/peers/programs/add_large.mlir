// The same on 16M elements: memory bandwidth.
func.func @main(%a: tensor<16777216xf32>, %b: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %c = arith.addf %a, %b : tensor<16777216xf32>
  return %c : tensor<16777216xf32>
}
