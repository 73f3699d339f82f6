// A reduction of each row.
func.func @main(%a: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096xf32>) -> tensor<4096xf32>
  %sums = linalg.reduce ins(%a : tensor<4096x1024xf32>) outs(%filled : tensor<4096xf32>) dimensions = [1]
    (%x: f32, %sum: f32) {
      %next = arith.addf %x, %sum : f32
      linalg.yield %next : f32
    }
  return %sums : tensor<4096xf32>
}
