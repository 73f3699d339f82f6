// Products in any form: several dimensions a side, batches, dimensions of one, transposed results, windows; and what reads
// turned round, gives several results or chooses for each element.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK-NOT: .extern .func
// CHECK: .visible .entry
// CASE: heads --input=2x70x48=f32:unit --input=3x48x5x32=f32:unit
// CASE: scores --input=2x70x3x32=f32:unit --input=2x90x3x32=f32:unit
// CASE: mixed --input=2x3x70x90=f32:unit --input=2x90x3x32=f32:unit
// CASE: units --input=1x100x70x1=f32:unit --input=1x70x90=f32:unit
// CASE: turned_result --input=100x70=f32:unit --input=70x90=f32:unit
// CASE: several_steps --input=80x9x11=f32:unit --input=11x70x9=f32:unit
// CASE: window --input=2x14x25x16=f32:unit --input=3x3x16x40=f32:unit
// CASE: window_channels_first --input=2x16x14x30=f32:unit --input=40x16x3x3=f32:unit
// CASE: halves --input=2x70x3x64=f16:unit --input=2x90x3x64=f16:unit
// CASE: halves_wide --input=2x70x3x64=f16:unit --input=2x90x3x64=f16:unit
// CASE: window_halves --input=2x14x14x32=f16:unit --input=3x3x32x64=f16:unit
// CASE: turned_round --input=500x300=f32
// CASE: largest --input=300x40=i32
// CASE: joined --input=300x24=f32 --input=300x40=f32
// CASE: half_sums --input=70x3000=f16:positive
// CASE: tiny --input=300x4x3=f32:unit --input=300x3x5=f32:unit
// CASE: tiny_halves --input=300x4x16=f16:unit --input=300x16x5=f16:unit
// CASE: short_last --input=32x40=f32:unit --input=300x6x32=f32:unit
func.func @heads(%a: tensor<2x70x48xf32>, %b: tensor<3x48x5x32xf32>) -> tensor<3x2x70x5x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2x70x5x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2x70x5x32xf32>) -> tensor<3x2x70x5x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, t, h, d, k) -> (b, s, k)>, affine_map<(b, s, t, h, d, k) -> (t, k, h, d)>, affine_map<(b, s, t, h, d, k) -> (t, b, s, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x70x48xf32>, tensor<3x48x5x32xf32>) outs(%f : tensor<3x2x70x5x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<3x2x70x5x32xf32>
  return %r : tensor<3x2x70x5x32xf32>
}
func.func @scores(%a: tensor<2x70x3x32xf32>, %b: tensor<2x90x3x32xf32>) -> tensor<2x3x70x90xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x70x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x70x90xf32>) -> tensor<2x3x70x90xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, q, s, k) -> (b, q, h, k)>, affine_map<(b, h, q, s, k) -> (b, s, h, k)>, affine_map<(b, h, q, s, k) -> (b, h, q, s)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x70x3x32xf32>, tensor<2x90x3x32xf32>) outs(%f : tensor<2x3x70x90xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x3x70x90xf32>
  return %r : tensor<2x3x70x90xf32>
}
func.func @mixed(%a: tensor<2x3x70x90xf32>, %b: tensor<2x90x3x32xf32>) -> tensor<2x70x3x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x70x3x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70x3x32xf32>) -> tensor<2x70x3x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, q, k, s) -> (b, h, q, k)>, affine_map<(b, h, q, k, s) -> (b, k, h, s)>, affine_map<(b, h, q, k, s) -> (b, q, h, s)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%a, %b : tensor<2x3x70x90xf32>, tensor<2x90x3x32xf32>) outs(%f : tensor<2x70x3x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x70x3x32xf32>
  return %r : tensor<2x70x3x32xf32>
}
func.func @units(%a: tensor<1x100x70x1xf32>, %b: tensor<1x70x90xf32>) -> tensor<1x100x90xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x100x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x100x90xf32>) -> tensor<1x100x90xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k, j) -> (b, m, k, j)>, affine_map<(b, m, n, k, j) -> (j, k, n)>, affine_map<(b, m, n, k, j) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%a, %b : tensor<1x100x70x1xf32>, tensor<1x70x90xf32>) outs(%f : tensor<1x100x90xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x100x90xf32>
  return %r : tensor<1x100x90xf32>
}
func.func @turned_result(%a: tensor<100x70xf32>, %b: tensor<70x90xf32>) -> tensor<90x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<90x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<90x100xf32>) -> tensor<90x100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<100x70xf32>, tensor<70x90xf32>) outs(%f : tensor<90x100xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<90x100xf32>
  return %r : tensor<90x100xf32>
}
func.func @several_steps(%a: tensor<80x9x11xf32>, %b: tensor<11x70x9xf32>) -> tensor<80x70xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<80x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<80x70xf32>) -> tensor<80x70xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, u) -> (m, k, u)>, affine_map<(m, n, k, u) -> (u, n, k)>, affine_map<(m, n, k, u) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<80x9x11xf32>, tensor<11x70x9xf32>) outs(%f : tensor<80x70xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<80x70xf32>
  return %r : tensor<80x70xf32>
}
func.func @window(%a: tensor<2x14x25x16xf32>, %b: tensor<3x3x16x40xf32>) -> tensor<2x12x12x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x12x12x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x12x12x40xf32>) -> tensor<2x12x12x40xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, y, x, f, u, v, k) -> (b, y + u, x * 2 + v, k)>, affine_map<(b, y, x, f, u, v, k) -> (u, v, k, f)>, affine_map<(b, y, x, f, u, v, k) -> (b, y, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %b : tensor<2x14x25x16xf32>, tensor<3x3x16x40xf32>) outs(%f : tensor<2x12x12x40xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x12x12x40xf32>
  return %r : tensor<2x12x12x40xf32>
}
func.func @window_channels_first(%a: tensor<2x16x14x30xf32>, %b: tensor<40x16x3x3xf32>) -> tensor<2x40x12x28xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x40x12x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x40x12x28xf32>) -> tensor<2x40x12x28xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, y, x, f, u, v, k) -> (b, k, y + u, x + v)>, affine_map<(b, y, x, f, u, v, k) -> (f, k, u, v)>, affine_map<(b, y, x, f, u, v, k) -> (b, f, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %b : tensor<2x16x14x30xf32>, tensor<40x16x3x3xf32>) outs(%f : tensor<2x40x12x28xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x40x12x28xf32>
  return %r : tensor<2x40x12x28xf32>
}
func.func @halves(%a: tensor<2x70x3x64xf16>, %b: tensor<2x90x3x64xf16>) -> tensor<2x3x70x90xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x3x70x90xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<2x3x70x90xf16>) -> tensor<2x3x70x90xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, q, s, k) -> (b, q, h, k)>, affine_map<(b, h, q, s, k) -> (b, s, h, k)>, affine_map<(b, h, q, s, k) -> (b, h, q, s)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x70x3x64xf16>, tensor<2x90x3x64xf16>) outs(%f : tensor<2x3x70x90xf16>) {
  ^bb0(%x: f16, %y: f16, %s: f16):
    %p = arith.mulf %x, %y : f16
    %t = arith.addf %s, %p : f16
    linalg.yield %t : f16
  } -> tensor<2x3x70x90xf16>
  return %r : tensor<2x3x70x90xf16>
}
func.func @halves_wide(%a: tensor<2x70x3x64xf16>, %b: tensor<2x90x3x64xf16>) -> tensor<2x3x70x90xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x70x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x70x90xf32>) -> tensor<2x3x70x90xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, q, s, k) -> (b, q, h, k)>, affine_map<(b, h, q, s, k) -> (b, s, h, k)>, affine_map<(b, h, q, s, k) -> (b, h, q, s)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x70x3x64xf16>, tensor<2x90x3x64xf16>) outs(%f : tensor<2x3x70x90xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x3x70x90xf32>
  return %r : tensor<2x3x70x90xf32>
}
func.func @window_halves(%a: tensor<2x14x14x32xf16>, %b: tensor<3x3x32x64xf16>) -> tensor<2x12x12x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x12x12x64xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<2x12x12x64xf16>) -> tensor<2x12x12x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(b, y, x, f, u, v, k) -> (b, y + u, x + v, k)>, affine_map<(b, y, x, f, u, v, k) -> (u, v, k, f)>, affine_map<(b, y, x, f, u, v, k) -> (b, y, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %b : tensor<2x14x14x32xf16>, tensor<3x3x32x64xf16>) outs(%f : tensor<2x12x12x64xf16>) {
  ^bb0(%x: f16, %y: f16, %s: f16):
    %p = arith.mulf %x, %y : f16
    %t = arith.addf %s, %p : f16
    linalg.yield %t : f16
  } -> tensor<2x12x12x64xf16>
  return %r : tensor<2x12x12x64xf16>
}
func.func @turned_round(%a: tensor<500x300xf32>) -> tensor<500x300xf32> {
  %e = tensor.empty() : tensor<500x300xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (-i + 499, j)>, affine_map<(i, j) -> (i, -j + 299)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %a : tensor<500x300xf32>, tensor<500x300xf32>) outs(%e : tensor<500x300xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %t = arith.subf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<500x300xf32>
  return %r : tensor<500x300xf32>
}
func.func @largest(%a: tensor<300x40xi32>) -> (tensor<300xi32>, tensor<300xi32>) {
  %low = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<300xi32>
  %f = linalg.fill ins(%low : i32) outs(%e : tensor<300xi32>) -> tensor<300xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<300x40xi32>) outs(%f, %f : tensor<300xi32>, tensor<300xi32>) {
  ^bb0(%x: i32, %best: i32, %where: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %better = arith.cmpi sgt, %x, %best : i32
    %value = arith.select %better, %x, %best : i32
    %place = arith.select %better, %here, %where : i32
    linalg.yield %value, %place : i32, i32
  } -> (tensor<300xi32>, tensor<300xi32>)
  return %r#0, %r#1 : tensor<300xi32>, tensor<300xi32>
}
// As JAX says concatenation: a choice for each element.
func.func @joined(%a: tensor<300x24xf32>, %b: tensor<300x40xf32>) -> tensor<300x64xf32> {
  %c24 = arith.constant 24 : index
  %e = tensor.empty() : tensor<300x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<300x64xf32>) {
  ^bb0(%s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c24 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i, %j] : tensor<300x24xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %j, %c24 : index
      %y = tensor.extract %b[%i, %k] : tensor<300x40xf32>
      scf.yield %y : f32
    }
    linalg.yield %v : f32
  } -> tensor<300x64xf32>
  return %r : tensor<300x64xf32>
}
func.func @half_sums(%a: tensor<70x3000xf16>) -> tensor<70xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<70xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<70xf16>) -> tensor<70xf16>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<70x3000xf16>) outs(%f : tensor<70xf16>) dimensions = [1]
  return %r : tensor<70xf16>
}
func.func @tiny(%a: tensor<300x4x3xf32>, %b: tensor<300x3x5xf32>) -> tensor<300x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x4x5xf32>) -> tensor<300x4x5xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<300x4x3xf32>, tensor<300x3x5xf32>) outs(%f : tensor<300x4x5xf32>) -> tensor<300x4x5xf32>
  return %r : tensor<300x4x5xf32>
}
func.func @tiny_halves(%a: tensor<300x4x16xf16>, %b: tensor<300x16x5xf16>) -> tensor<300x4x5xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<300x4x5xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<300x4x5xf16>) -> tensor<300x4x5xf16>
  %r = linalg.batch_matmul ins(%a, %b : tensor<300x4x16xf16>, tensor<300x16x5xf16>) outs(%f : tensor<300x4x5xf16>) -> tensor<300x4x5xf16>
  return %r : tensor<300x4x5xf16>
}
// The fastest dimension of the result would leave a tile empty, and a long one stands beside it.
func.func @short_last(%a: tensor<32x40xf32>, %b: tensor<300x6x32xf32>) -> tensor<40x300x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x300x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x300x6xf32>) -> tensor<40x300x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, t, b, d) -> (d, f)>, affine_map<(f, t, b, d) -> (t, b, d)>, affine_map<(f, t, b, d) -> (f, t, b)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<32x40xf32>, tensor<300x6x32xf32>) outs(%f : tensor<40x300x6xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  } -> tensor<40x300x6xf32>
  return %r : tensor<40x300x6xf32>
}
