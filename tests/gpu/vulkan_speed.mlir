// What tests/gpu/vulkan measures, compiled for cuda and for vulkan: a product, a copy's worth of elements, a sum of rows.
func.func @product(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>)
    outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
func.func @elements(%a: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %r = arith.addf %a, %a : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @rows(%a: tensor<16384x4096xf32>) -> tensor<16384xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16384xf32>) -> tensor<16384xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<16384x4096xf32>) outs(%f : tensor<16384xf32>) dimensions = [1]
  return %r : tensor<16384xf32>
}
