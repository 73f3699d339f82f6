// What cuda_kernels.cpp measures: sizes are part of the types, so that a grid is three numbers.
func.func @add(%a: tensor<67108864xf32>, %b: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %r = arith.addf %a, %b : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @scale_half(%a: tensor<134217728xf16>) -> tensor<134217728xf16> {
  %r = arith.addf %a, %a : tensor<134217728xf16>
  return %r : tensor<134217728xf16>
}
func.func @exp_chain(%a: tensor<67108864xf32>, %b: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %s = arith.mulf %a, %b : tensor<67108864xf32>
  %t = arith.addf %s, %b : tensor<67108864xf32>
  %r = math.exp %t : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @tanh(%a: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %r = math.tanh %a : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @bias(%a: tensor<8192x8192xf32>, %b: tensor<8192xf32>) -> tensor<8192x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%e : tensor<8192x8192xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}
func.func @transpose(%a: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.transpose ins(%a : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) permutation = [1, 0]
  return %r : tensor<8192x8192xf32>
}
func.func @row_sums(%a: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8192x8192xf32>) outs(%f : tensor<8192xf32>) dimensions = [1]
  return %r : tensor<8192xf32>
}
func.func @short_row_sums(%a: tensor<262144x256xf32>) -> tensor<262144xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<262144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<262144xf32>) -> tensor<262144xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<262144x256xf32>) outs(%f : tensor<262144xf32>) dimensions = [1]
  return %r : tensor<262144xf32>
}
func.func @column_sums(%a: tensor<1024x65536xf32>) -> tensor<65536xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65536xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<1024x65536xf32>) outs(%f : tensor<65536xf32>) dimensions = [0]
  return %r : tensor<65536xf32>
}
func.func @sum(%a: tensor<67108864xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<67108864xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%a: tensor<16384x4096xf32>) -> tensor<16384x4096xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<16384xf32>
  %e2 = tensor.empty() : tensor<16384x4096xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<16384xf32>) -> tensor<16384xf32>
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<16384x4096xf32>) outs(%f1 : tensor<16384xf32>) dimensions = [1]
  %x = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m : tensor<16384x4096xf32>, tensor<16384xf32>) outs(%e2 : tensor<16384x4096xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.subf %v, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<16384x4096xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16384xf32>) -> tensor<16384xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<16384x4096xf32>) outs(%f2 : tensor<16384xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<16384x4096xf32>, tensor<16384xf32>) outs(%e2 : tensor<16384x4096xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.divf %v, %t : f32
      linalg.yield %d : f32
  } -> tensor<16384x4096xf32>
  return %r : tensor<16384x4096xf32>
}
func.func @transpose_half(%a: tensor<8192x16384xf16>) -> tensor<16384x8192xf16> {
  %e = tensor.empty() : tensor<16384x8192xf16>
  %r = linalg.transpose ins(%a : tensor<8192x16384xf16>) outs(%e : tensor<16384x8192xf16>) permutation = [1, 0]
  return %r : tensor<16384x8192xf16>
}
func.func @permute(%a: tensor<32x256x8192xf32>) -> tensor<32x8192x256xf32> {
  %e = tensor.empty() : tensor<32x8192x256xf32>
  %r = linalg.transpose ins(%a : tensor<32x256x8192xf32>) outs(%e : tensor<32x8192x256xf32>) permutation = [0, 2, 1]
  return %r : tensor<32x8192x256xf32>
}
func.func @gelu(%a: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %half = arith.constant dense<0.5> : tensor<67108864xf32>
  %root = arith.constant dense<0.70710678> : tensor<67108864xf32>
  %x = arith.mulf %a, %root : tensor<67108864xf32>
  %y = math.erf %x : tensor<67108864xf32>
  %s = arith.mulf %a, %half : tensor<67108864xf32>
  %t = arith.mulf %s, %y : tensor<67108864xf32>
  %r = arith.addf %s, %t : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @log(%a: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %r = math.log %a : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @sin(%a: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %r = math.sin %a : tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
func.func @layer_norm(%a: tensor<16384x4096xf32>, %g: tensor<4096xf32>) -> tensor<16384x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %small = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<16384xf32>
  %e2 = tensor.empty() : tensor<16384x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16384xf32>) -> tensor<16384xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<16384x4096xf32>) outs(%f : tensor<16384xf32>) dimensions = [1]
  %c = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<16384x4096xf32>, tensor<16384xf32>) outs(%e2 : tensor<16384x4096xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %m = arith.divf %t, %n : f32
      %d = arith.subf %v, %m : f32
      linalg.yield %d : f32
  } -> tensor<16384x4096xf32>
  %q = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<16384x4096xf32>) outs(%f : tensor<16384xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %v : f32
      %x = arith.addf %p, %o : f32
      linalg.yield %x : f32
  } -> tensor<16384xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %q, %g : tensor<16384x4096xf32>, tensor<16384xf32>, tensor<4096xf32>) outs(%e2 : tensor<16384x4096xf32>) {
    ^bb0(%v: f32, %t: f32, %w: f32, %o: f32):
      %u = arith.divf %t, %n : f32
      %y = arith.addf %u, %small : f32
      %z = math.rsqrt %y : f32
      %d = arith.mulf %v, %z : f32
      %k = arith.mulf %d, %w : f32
      linalg.yield %k : f32
  } -> tensor<16384x4096xf32>
  return %r : tensor<16384x4096xf32>
}
func.func @matvec(%a: tensor<8192x8192xf32>, %x: tensor<8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.matvec ins(%a, %x : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%f : tensor<8192xf32>) -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}
func.func @vecmat(%x: tensor<8192xf32>, %a: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.vecmat ins(%x, %a : tensor<8192xf32>, tensor<8192x8192xf32>) outs(%f : tensor<8192xf32>) -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}
func.func @product_1024(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
func.func @product_4096(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
