// One elementwise kernel on 4096 elements: what a call costs, more than what the kernel does.
func.func @main(%a: tensor<4096xf32>, %b: tensor<4096xf32>) -> tensor<4096xf32> {
  %c = arith.addf %a, %b : tensor<4096xf32>
  return %c : tensor<4096xf32>
}
