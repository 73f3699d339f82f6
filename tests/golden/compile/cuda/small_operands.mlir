// What a caller passes and eight commands or more read is copied by the first command, if it is small and nobody writes it:
// a call that passes it elsewhere changes two commands of a recording, and not all that read it.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck %s
// RUN: baton-compile --target-device=local --target-device=cuda --dump-schedule %s | FileCheck %s
// RUN: baton-compile --target-device=local --dump-schedule %s | FileCheck --check-prefix=CPU %s
// CPU-NOT: what many read
// CASE: many --input=4x16=f32:unit --input=16=f32:unit
// CASE: few --input=4x16=f32:unit --input=16=f32:unit
// CASE: slices --input=4x16=f32:unit --input=32x16=f32:unit
// CASE: large --input=4x16=f32:unit --input=512x16=f32:unit
// CASE: two --input=4x16=f32:unit --input=16=f32:unit --input=16=f32:unit

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// The first dispatch reads it where it lies, and needs no copy.
// CHECK-LABEL: recording many.0
// CHECK: copy of what many read r [[P:%[0-9]+]][0 for 64] w [[COPY:%[0-9]+]][0 for 64]
// CHECK-NEXT: dispatch {{.*}} r [[P]][0 for 64]
// CHECK-COUNT-8: dispatch {{.*}} r [[COPY]][0 for 64]
// CHECK-NOT: r [[P]]
func.func @many(%x: tensor<4x16xf32>, %p: tensor<16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.06> : tensor<16x16xf32>
  %empty = tensor.empty() : tensor<4x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r0 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s0, %r0 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s1 = linalg.matmul ins(%y0, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r1 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s1, %r1 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s2 = linalg.matmul ins(%y1, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r2 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s2, %r2 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s3 = linalg.matmul ins(%y2, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r3 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s3, %r3 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s4 = linalg.matmul ins(%y3, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r4 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s4, %r4 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s5 = linalg.matmul ins(%y4, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r5 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s5, %r5 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s6 = linalg.matmul ins(%y5, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r6 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y6 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s6, %r6 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s7 = linalg.matmul ins(%y6, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r7 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y7 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s7, %r7 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s8 = linalg.matmul ins(%y7, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r8 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y8 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s8, %r8 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %y8 : tensor<4x16xf32>
}
// CHECK-LABEL: recording few.0
// CHECK-NOT: what many read
func.func @few(%x: tensor<4x16xf32>, %p: tensor<16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.06> : tensor<16x16xf32>
  %empty = tensor.empty() : tensor<4x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r0 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s0, %r0 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s1 = linalg.matmul ins(%y0, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r1 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s1, %r1 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s2 = linalg.matmul ins(%y1, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r2 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s2, %r2 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s3 = linalg.matmul ins(%y2, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r3 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s3, %r3 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s4 = linalg.matmul ins(%y3, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r4 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s4, %r4 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s5 = linalg.matmul ins(%y4, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r5 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s5, %r5 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s6 = linalg.matmul ins(%y5, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r6 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y6 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s6, %r6 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %y6 : tensor<4x16xf32>
}
// Parts of it.
// CHECK-LABEL: recording slices.0
// CHECK: copy of what many read r [[P:%[0-9]+]][0 for 2048] w [[COPY:%[0-9]+]][0 for 2048]
// CHECK: dispatch {{.*}} r [[COPY]][1728 for 64]
func.func @slices(%x: tensor<4x16xf32>, %p: tensor<32x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.06> : tensor<16x16xf32>
  %empty = tensor.empty() : tensor<4x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r0 = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s0, %r0 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s1 = linalg.matmul ins(%y0, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r1 = tensor.extract_slice %p[3, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s1, %r1 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s2 = linalg.matmul ins(%y1, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r2 = tensor.extract_slice %p[6, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s2, %r2 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s3 = linalg.matmul ins(%y2, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r3 = tensor.extract_slice %p[9, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s3, %r3 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s4 = linalg.matmul ins(%y3, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r4 = tensor.extract_slice %p[12, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s4, %r4 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s5 = linalg.matmul ins(%y4, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r5 = tensor.extract_slice %p[15, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s5, %r5 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s6 = linalg.matmul ins(%y5, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r6 = tensor.extract_slice %p[18, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y6 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s6, %r6 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s7 = linalg.matmul ins(%y6, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r7 = tensor.extract_slice %p[21, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y7 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s7, %r7 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s8 = linalg.matmul ins(%y7, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r8 = tensor.extract_slice %p[24, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y8 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s8, %r8 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s9 = linalg.matmul ins(%y8, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r9 = tensor.extract_slice %p[27, 0] [1, 16] [1, 1] : tensor<32x16xf32> to tensor<16xf32>
  %y9 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s9, %r9 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %y9 : tensor<4x16xf32>
}
// CHECK-LABEL: recording large.0
// CHECK-NOT: what many read
func.func @large(%x: tensor<4x16xf32>, %p: tensor<512x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.06> : tensor<16x16xf32>
  %empty = tensor.empty() : tensor<4x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r0 = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s0, %r0 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s1 = linalg.matmul ins(%y0, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r1 = tensor.extract_slice %p[3, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s1, %r1 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s2 = linalg.matmul ins(%y1, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r2 = tensor.extract_slice %p[6, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s2, %r2 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s3 = linalg.matmul ins(%y2, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r3 = tensor.extract_slice %p[9, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s3, %r3 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s4 = linalg.matmul ins(%y3, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r4 = tensor.extract_slice %p[12, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s4, %r4 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s5 = linalg.matmul ins(%y4, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r5 = tensor.extract_slice %p[15, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s5, %r5 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s6 = linalg.matmul ins(%y5, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r6 = tensor.extract_slice %p[18, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y6 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s6, %r6 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s7 = linalg.matmul ins(%y6, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r7 = tensor.extract_slice %p[21, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y7 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s7, %r7 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s8 = linalg.matmul ins(%y7, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r8 = tensor.extract_slice %p[24, 0] [1, 16] [1, 1] : tensor<512x16xf32> to tensor<16xf32>
  %y8 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s8, %r8 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %y8 : tensor<4x16xf32>
}
// CHECK-LABEL: recording two.0
// CHECK-COUNT-2: copy of what many read
func.func @two(%x: tensor<4x16xf32>, %p: tensor<16xf32>, %q: tensor<16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.06> : tensor<16x16xf32>
  %empty = tensor.empty() : tensor<4x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r0 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s0, %r0 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s1 = linalg.matmul ins(%y0, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r1 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s1, %r1 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s2 = linalg.matmul ins(%y1, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r2 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s2, %r2 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s3 = linalg.matmul ins(%y2, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r3 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s3, %r3 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s4 = linalg.matmul ins(%y3, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r4 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s4, %r4 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s5 = linalg.matmul ins(%y4, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r5 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s5, %r5 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s6 = linalg.matmul ins(%y5, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r6 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y6 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s6, %r6 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s7 = linalg.matmul ins(%y6, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r7 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y7 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s7, %r7 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s8 = linalg.matmul ins(%y7, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r8 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y8 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s8, %r8 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s9 = linalg.matmul ins(%y8, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r9 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y9 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s9, %r9 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s10 = linalg.matmul ins(%y9, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r10 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y10 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s10, %r10 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s11 = linalg.matmul ins(%y10, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r11 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y11 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s11, %r11 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s12 = linalg.matmul ins(%y11, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r12 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y12 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s12, %r12 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s13 = linalg.matmul ins(%y12, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r13 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y13 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s13, %r13 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s14 = linalg.matmul ins(%y13, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r14 = tensor.cast %p : tensor<16xf32> to tensor<16xf32>
  %y14 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s14, %r14 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %s15 = linalg.matmul ins(%y14, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r15 = tensor.cast %q : tensor<16xf32> to tensor<16xf32>
  %y15 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s15, %r15 : tensor<4x16xf32>, tensor<16xf32>) outs(%empty : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %y15 : tensor<4x16xf32>
}
