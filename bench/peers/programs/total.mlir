// A reduction of 16M elements to one.
func.func @main(%a: tensor<16777216xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%a : tensor<16777216xf32>) outs(%filled : tensor<f32>) dimensions = [0]
    (%x: f32, %so_far: f32) {
      %next = arith.addf %x, %so_far : f32
      linalg.yield %next : f32
    }
  return %sum : tensor<f32>
}
