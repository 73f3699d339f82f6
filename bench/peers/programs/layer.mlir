// relu(x * w + b): three operations around a product.
func.func @main(%x: tensor<128x256xf32>, %w: tensor<256x512xf32>, %b: tensor<512xf32>) -> tensor<128x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x512xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x512xf32>) -> tensor<128x512xf32>
  %product = linalg.matmul ins(%x, %w : tensor<128x256xf32>, tensor<256x512xf32>) outs(%filled : tensor<128x512xf32>) -> tensor<128x512xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<128x512xf32>, tensor<512xf32>) outs(%empty : tensor<128x512xf32>) {
    ^bb0(%p: f32, %bias: f32, %out: f32):
      %sum = arith.addf %p, %bias : f32
      %relu = arith.maximumf %sum, %zero : f32
      linalg.yield %relu : f32
  } -> tensor<128x512xf32>
  return %result : tensor<128x512xf32>
}
