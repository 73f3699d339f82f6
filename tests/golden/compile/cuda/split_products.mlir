// A product of few tiles and many steps is several of parts of the steps, and a sum of those that goes on with what follows:
// two dispatches, in each type and layout. Halves that are added to halves, few steps and steps without equal parts are one dispatch.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck %s
// CASE: f16 --input=96x2048=f16:unit --input=2048x72=f16:unit
// CASE: bf16 --input=96x2048=bf16:unit --input=2048x72=bf16:unit
// CASE: f32 --input=96x2048=f32:unit --input=2048x72=f32:unit
// CASE: f64 --input=96x2048=f64:unit --input=2048x72=f64:unit
// CASE: ends --input=96x2048=f16:unit --input=2048x72=f16:unit --input=72=f16:unit
// CASE: wide_ends --input=96x2048=f32:unit --input=2048x72=f32:unit --input=72=f32:unit
// CASE: turned --input=1536x33=f16:unit --input=70x1536=f16:unit
// CASE: turned_f32 --input=1536x33=f32:unit --input=70x1536=f32:unit
// CASE: turned_result --input=65x2048=bf16:unit --input=2048x31=bf16:unit
// CASE: whole_squares --input=256x4096=f32:unit --input=4096x128=f32:unit
// CASE: batch --input=3x17x2048=f16:unit --input=3x2048x129=f16:unit
// CASE: heads --input=2x20x2x2048=f32:unit --input=2x36x2x2048=f32:unit
// CASE: sums_in_f32 --input=96x2048=f16:unit --input=2048x72=f16:unit
// CASE: integers --input=40x2048=i8 --input=2048x24=i8
// CASE: onto --input=40x2048=f16:unit --input=2048x130=f16:unit --input=40x130=f32:unit
// CASE: onto_f32 --input=40x2048=f32:unit --input=2048x130=f32:unit --input=40x130=f32:unit
// CASE: twice --input=48x2048=f16:unit --input=2048x80=f16:unit
// CASE: two_rows --input=2x8192=f32:unit --input=8192x2=f32:unit
// CASE: onto_halves --input=40x2048=f16:unit --input=2048x130=f16:unit --input=40x130=f16:unit
// CASE: few_steps --input=96x256=f32:unit --input=256x72=f32:unit
// CASE: no_equal_parts --input=96x2053=f32:unit --input=2053x72=f32:unit
// CASE: tall --input=32768x16=f32:unit
// CHECK-LABEL: recording f16.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @f16(%a: tensor<96x2048xf16>, %b: tensor<2048x72xf16>) -> tensor<96x72xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<96x72xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<96x72xf16>) -> tensor<96x72xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xf16>, tensor<2048x72xf16>) outs(%f : tensor<96x72xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %2 = arith.mulf %u, %v : f16
    %3 = arith.addf %s, %2 : f16
    linalg.yield %3 : f16
  } -> tensor<96x72xf16>
  return %p : tensor<96x72xf16>
}
// CHECK-LABEL: recording bf16.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @bf16(%a: tensor<96x2048xbf16>, %b: tensor<2048x72xbf16>) -> tensor<96x72xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<96x72xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<96x72xbf16>) -> tensor<96x72xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xbf16>, tensor<2048x72xbf16>) outs(%f : tensor<96x72xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %s: bf16):
    %2 = arith.mulf %u, %v : bf16
    %3 = arith.addf %s, %2 : bf16
    linalg.yield %3 : bf16
  } -> tensor<96x72xbf16>
  return %p : tensor<96x72xbf16>
}
// CHECK-LABEL: recording f32.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @f32(%a: tensor<96x2048xf32>, %b: tensor<2048x72xf32>) -> tensor<96x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x72xf32>) -> tensor<96x72xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xf32>, tensor<2048x72xf32>) outs(%f : tensor<96x72xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<96x72xf32>
  return %p : tensor<96x72xf32>
}
// CHECK-LABEL: recording f64.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @f64(%a: tensor<96x2048xf64>, %b: tensor<2048x72xf64>) -> tensor<96x72xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<96x72xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<96x72xf64>) -> tensor<96x72xf64>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xf64>, tensor<2048x72xf64>) outs(%f : tensor<96x72xf64>) {
  ^bb0(%u: f64, %v: f64, %s: f64):
    %2 = arith.mulf %u, %v : f64
    %3 = arith.addf %s, %2 : f64
    linalg.yield %3 : f64
  } -> tensor<96x72xf64>
  return %p : tensor<96x72xf64>
}
// CHECK-LABEL: recording ends.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @ends(%a: tensor<96x2048xf16>, %b: tensor<2048x72xf16>, %x: tensor<72xf16>) -> tensor<96x72xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<96x72xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<96x72xf16>) -> tensor<96x72xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xf16>, tensor<2048x72xf16>) outs(%f : tensor<96x72xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %2 = arith.mulf %u, %v : f16
    %3 = arith.addf %s, %2 : f16
    linalg.yield %3 : f16
  } -> tensor<96x72xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<96x72xf16>, tensor<72xf16>) outs(%e : tensor<96x72xf16>) {
  ^bb0(%u: f16, %v: f16, %o: f16):
    %0 = arith.addf %u, %v : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<96x72xf16>
  return %r : tensor<96x72xf16>
}
// CHECK-LABEL: recording wide_ends.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @wide_ends(%a: tensor<96x2048xf32>, %b: tensor<2048x72xf32>, %x: tensor<72xf32>) -> tensor<96x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x72xf32>) -> tensor<96x72xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xf32>, tensor<2048x72xf32>) outs(%f : tensor<96x72xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<96x72xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<96x72xf32>, tensor<72xf32>) outs(%e : tensor<96x72xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.addf %u, %v : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<96x72xf32>
  return %r : tensor<96x72xf32>
}
// CHECK-LABEL: recording turned.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @turned(%a: tensor<1536x33xf16>, %b: tensor<70x1536xf16>) -> tensor<33x70xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<33x70xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<33x70xf16>) -> tensor<33x70xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1536x33xf16>, tensor<70x1536xf16>) outs(%f : tensor<33x70xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %2 = arith.mulf %u, %v : f16
    %3 = arith.addf %s, %2 : f16
    linalg.yield %3 : f16
  } -> tensor<33x70xf16>
  return %p : tensor<33x70xf16>
}
// CHECK-LABEL: recording turned_f32.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @turned_f32(%a: tensor<1536x33xf32>, %b: tensor<70x1536xf32>) -> tensor<33x70xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33x70xf32>) -> tensor<33x70xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1536x33xf32>, tensor<70x1536xf32>) outs(%f : tensor<33x70xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<33x70xf32>
  return %p : tensor<33x70xf32>
}
// CHECK-LABEL: recording turned_result.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @turned_result(%a: tensor<65x2048xbf16>, %b: tensor<2048x31xbf16>) -> tensor<31x65xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<31x65xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<31x65xbf16>) -> tensor<31x65xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<65x2048xbf16>, tensor<2048x31xbf16>) outs(%f : tensor<31x65xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %s: bf16):
    %2 = arith.mulf %u, %v : bf16
    %3 = arith.addf %s, %2 : bf16
    linalg.yield %3 : bf16
  } -> tensor<31x65xbf16>
  return %p : tensor<31x65xbf16>
}
// CHECK-LABEL: recording whole_squares.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @whole_squares(%a: tensor<256x4096xf32>, %b: tensor<4096x128xf32>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x4096xf32>, tensor<4096x128xf32>) outs(%f : tensor<256x128xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<256x128xf32>
  return %p : tensor<256x128xf32>
}
// CHECK-LABEL: recording batch.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @batch(%a: tensor<3x17x2048xf16>, %b: tensor<3x2048x129xf16>) -> tensor<3x17x129xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<3x17x129xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<3x17x129xf16>) -> tensor<3x17x129xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(p, m, n, k) -> (p, m, k)>, affine_map<(p, m, n, k) -> (p, k, n)>, affine_map<(p, m, n, k) -> (p, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x17x2048xf16>, tensor<3x2048x129xf16>) outs(%f : tensor<3x17x129xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %2 = arith.mulf %u, %v : f16
    %3 = arith.addf %s, %2 : f16
    linalg.yield %3 : f16
  } -> tensor<3x17x129xf16>
  return %p : tensor<3x17x129xf16>
}
// CHECK-LABEL: recording heads.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @heads(%a: tensor<2x20x2x2048xf32>, %b: tensor<2x36x2x2048xf32>) -> tensor<2x2x20x36xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x20x36xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x20x36xf32>) -> tensor<2x2x20x36xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(p, h, m, n, k) -> (p, m, h, k)>, affine_map<(p, h, m, n, k) -> (p, n, h, k)>, affine_map<(p, h, m, n, k) -> (p, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x20x2x2048xf32>, tensor<2x36x2x2048xf32>) outs(%f : tensor<2x2x20x36xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x2x20x36xf32>
  return %p : tensor<2x2x20x36xf32>
}
// CHECK-LABEL: recording sums_in_f32.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @sums_in_f32(%a: tensor<96x2048xf16>, %b: tensor<2048x72xf16>) -> tensor<96x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x72xf32>) -> tensor<96x72xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2048xf16>, tensor<2048x72xf16>) outs(%f : tensor<96x72xf32>) {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.extf %v : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<96x72xf32>
  return %p : tensor<96x72xf32>
}
// CHECK-LABEL: recording integers.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @integers(%a: tensor<40x2048xi8>, %b: tensor<2048x24xi8>) -> tensor<40x24xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<40x24xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<40x24xi32>) -> tensor<40x24xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<40x2048xi8>, tensor<2048x24xi8>) outs(%f : tensor<40x24xi32>) {
  ^bb0(%u: i8, %v: i8, %s: i32):
    %0 = arith.extsi %u : i8 to i32
    %1 = arith.extsi %v : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<40x24xi32>
  return %p : tensor<40x24xi32>
}
// CHECK-LABEL: recording onto.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @onto(%a: tensor<40x2048xf16>, %b: tensor<2048x130xf16>, %c: tensor<40x130xf32>) -> tensor<40x130xf32> {
  %zero = arith.constant 0.0 : f32
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<40x2048xf16>, tensor<2048x130xf16>) outs(%c : tensor<40x130xf32>) {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.extf %v : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<40x130xf32>
  return %p : tensor<40x130xf32>
}
// CHECK-LABEL: recording onto_f32.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @onto_f32(%a: tensor<40x2048xf32>, %b: tensor<2048x130xf32>, %c: tensor<40x130xf32>) -> tensor<40x130xf32> {
  %zero = arith.constant 0.0 : f32
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<40x2048xf32>, tensor<2048x130xf32>) outs(%c : tensor<40x130xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<40x130xf32>
  return %p : tensor<40x130xf32>
}
// CHECK-LABEL: recording twice.0
// CHECK-COUNT-3: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @twice(%a: tensor<48x2048xf16>, %b: tensor<2048x80xf16>) -> (tensor<48x80xf16>, tensor<48x80xf16>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<48x80xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<48x80xf16>) -> tensor<48x80xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<48x2048xf16>, tensor<2048x80xf16>) outs(%f : tensor<48x80xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %2 = arith.mulf %u, %v : f16
    %3 = arith.addf %s, %2 : f16
    linalg.yield %3 : f16
  } -> tensor<48x80xf16>
  %q = arith.negf %p : tensor<48x80xf16>
  return %p, %q : tensor<48x80xf16>, tensor<48x80xf16>
}
// CHECK-LABEL: recording two_rows.0
// CHECK-COUNT-2: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @two_rows(%a: tensor<2x8192xf32>, %b: tensor<8192x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x8192xf32>, tensor<8192x2xf32>) outs(%f : tensor<2x2xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x2xf32>
  return %p : tensor<2x2xf32>
}
// CHECK-LABEL: recording onto_halves.0
// CHECK-COUNT-1: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @onto_halves(%a: tensor<40x2048xf16>, %b: tensor<2048x130xf16>, %c: tensor<40x130xf16>) -> tensor<40x130xf16> {
  %zero = arith.constant 0.0 : f16
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<40x2048xf16>, tensor<2048x130xf16>) outs(%c : tensor<40x130xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %2 = arith.mulf %u, %v : f16
    %3 = arith.addf %s, %2 : f16
    linalg.yield %3 : f16
  } -> tensor<40x130xf16>
  return %p : tensor<40x130xf16>
}
// CHECK-LABEL: recording few_steps.0
// CHECK-COUNT-1: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @few_steps(%a: tensor<96x256xf32>, %b: tensor<256x72xf32>) -> tensor<96x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x72xf32>) -> tensor<96x72xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x256xf32>, tensor<256x72xf32>) outs(%f : tensor<96x72xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<96x72xf32>
  return %p : tensor<96x72xf32>
}
// CHECK-LABEL: recording no_equal_parts.0
// CHECK-COUNT-1: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @no_equal_parts(%a: tensor<96x2053xf32>, %b: tensor<2053x72xf32>) -> tensor<96x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x72xf32>) -> tensor<96x72xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<96x2053xf32>, tensor<2053x72xf32>) outs(%f : tensor<96x72xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<96x72xf32>
  return %p : tensor<96x72xf32>
}
// One small square of sums, which waits for what it reads: very many parts.
// CHECK-LABEL: recording tall.0
// CHECK: {{^  dispatch}} tall{{.*}} w %{{[0-9]+}}[0 for 131072]
// CHECK-NEXT: barrier
// CHECK-NEXT: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @tall(%a: tensor<32768x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<32768x16xf32>, tensor<32768x16xf32>) outs(%f : tensor<16x16xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %2 = arith.mulf %u, %v : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<16x16xf32>
  return %p : tensor<16x16xf32>
}
