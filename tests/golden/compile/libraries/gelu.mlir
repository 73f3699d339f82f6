// A GELU goes along with a product of halves, however it is written: it is known by its values. That of the error function is another one, and in
// f32 a library's isn't precise enough to be told from it.
// RUN: baton-compile --target-device=cuda --library=cublas --explain %s -o %t.bvm 2>&1 | FileCheck %s
// CHECK: a product of 256x1024x512 in f16 f16 f16: cublas.gemm_bias_gelu, else generated
// CHECK: a product of 256x1024x512 in bf16 bf16 bf16: cublas.gemm_bias_gelu, else generated
// CHECK: a product of 256x1024x512 in f16 f16 f16: cublas.gemm, else generated
// CHECK: a product of 256x1024x512 in f32 f32 f32: cublas.gemm, else generated

func.func @by_tanh(%a: tensor<256x512xf16>, %b: tensor<512x1024xf16>, %bias: tensor<1024xf16>) -> tensor<256x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<256x1024xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<256x1024xf16>) -> tensor<256x1024xf16>
  %p = linalg.matmul ins(%a, %b : tensor<256x512xf16>, tensor<512x1024xf16>) outs(%f : tensor<256x1024xf16>) -> tensor<256x1024xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<256x1024xf16>, tensor<1024xf16>) outs(%e : tensor<256x1024xf16>) {
  ^bb0(%x0: f16, %x1: f16, %o: f16):
    %one = arith.constant 1.0 : f16
    %half = arith.constant 0.5 : f16
    %cube = arith.constant 0.044715 : f16
    %root = arith.constant 0.7978845608 : f16
    %double = arith.constant 1.5957691216 : f16
    %inverse = arith.constant 0.7071067811 : f16
    %x = arith.addf %x0, %x1 : f16
    %xx = arith.mulf %x, %x : f16
    %xxx = arith.mulf %xx, %x : f16
    %c = arith.mulf %xxx, %cube : f16
    %s = arith.addf %x, %c : f16
    %k = arith.mulf %s, %root : f16
    %t = math.tanh %k : f16
    %u = arith.addf %t, %one : f16
    %v = arith.mulf %u, %half : f16
    %y = arith.mulf %v, %x : f16
    linalg.yield %y : f16
  } -> tensor<256x1024xf16>
  return %r : tensor<256x1024xf16>
}

func.func @by_exponent(%a: tensor<256x512xbf16>, %b: tensor<512x1024xbf16>, %bias: tensor<1024xbf16>) -> tensor<256x1024xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<256x1024xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<256x1024xbf16>) -> tensor<256x1024xbf16>
  %p = linalg.matmul ins(%a, %b : tensor<256x512xbf16>, tensor<512x1024xbf16>) outs(%f : tensor<256x1024xbf16>) -> tensor<256x1024xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<256x1024xbf16>, tensor<1024xbf16>) outs(%e : tensor<256x1024xbf16>) {
  ^bb0(%x0: bf16, %x1: bf16, %o: bf16):
    %one = arith.constant 1.0 : bf16
    %half = arith.constant 0.5 : bf16
    %cube = arith.constant 0.044715 : bf16
    %root = arith.constant 0.7978845608 : bf16
    %double = arith.constant 1.5957691216 : bf16
    %inverse = arith.constant 0.7071067811 : bf16
    %x = arith.addf %x0, %x1 : bf16
    %xx = arith.mulf %x, %x : bf16
    %xxx = arith.mulf %xx, %x : bf16
    %c = arith.mulf %xxx, %cube : bf16
    %s = arith.addf %x, %c : bf16
    %k = arith.mulf %s, %double : bf16
    %n = arith.negf %k : bf16
    %w = math.exp %n : bf16
    %u = arith.addf %w, %one : bf16
    %y = arith.divf %x, %u : bf16
    linalg.yield %y : bf16
  } -> tensor<256x1024xbf16>
  return %r : tensor<256x1024xbf16>
}

func.func @by_error_function(%a: tensor<256x512xf16>, %b: tensor<512x1024xf16>, %bias: tensor<1024xf16>) -> tensor<256x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<256x1024xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<256x1024xf16>) -> tensor<256x1024xf16>
  %p = linalg.matmul ins(%a, %b : tensor<256x512xf16>, tensor<512x1024xf16>) outs(%f : tensor<256x1024xf16>) -> tensor<256x1024xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<256x1024xf16>, tensor<1024xf16>) outs(%e : tensor<256x1024xf16>) {
  ^bb0(%x0: f16, %x1: f16, %o: f16):
    %one = arith.constant 1.0 : f16
    %half = arith.constant 0.5 : f16
    %cube = arith.constant 0.044715 : f16
    %root = arith.constant 0.7978845608 : f16
    %double = arith.constant 1.5957691216 : f16
    %inverse = arith.constant 0.7071067811 : f16
    %x = arith.addf %x0, %x1 : f16
    %xx = arith.mulf %x, %x : f16
    %xxx = arith.mulf %xx, %x : f16
    %c = arith.mulf %xxx, %cube : f16
    %s = arith.addf %x, %c : f16
    %k = arith.mulf %x, %inverse : f16
    %t = math.erf %k : f16
    %u = arith.addf %t, %one : f16
    %v = arith.mulf %u, %half : f16
    %y = arith.mulf %v, %x : f16
    linalg.yield %y : f16
  } -> tensor<256x1024xf16>
  return %r : tensor<256x1024xf16>
}

func.func @in_floats(%a: tensor<256x512xf32>, %b: tensor<512x1024xf32>, %bias: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %p = linalg.matmul ins(%a, %b : tensor<256x512xf32>, tensor<512x1024xf32>) outs(%f : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<256x1024xf32>, tensor<1024xf32>) outs(%e : tensor<256x1024xf32>) {
  ^bb0(%x0: f32, %x1: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %cube = arith.constant 0.044715 : f32
    %root = arith.constant 0.7978845608 : f32
    %double = arith.constant 1.5957691216 : f32
    %inverse = arith.constant 0.7071067811 : f32
    %x = arith.addf %x0, %x1 : f32
    %xx = arith.mulf %x, %x : f32
    %xxx = arith.mulf %xx, %x : f32
    %c = arith.mulf %xxx, %cube : f32
    %s = arith.addf %x, %c : f32
    %k = arith.mulf %s, %root : f32
    %t = math.tanh %k : f32
    %u = arith.addf %t, %one : f32
    %v = arith.mulf %u, %half : f32
    %y = arith.mulf %v, %x : f32
    linalg.yield %y : f32
  } -> tensor<256x1024xf32>
  return %r : tensor<256x1024xf32>
}
