// Kernels that go along rows, which stay in registers: short rows by warps and long ones by blocks, rows of odd lengths,
// numbers of rows that no tile divides, halves, what is the same for all rows, several results, rows overwritten.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK: .visible .entry
// CASE: softmax --input=41x256=f32
// CASE: softmax_odd --input=9x1003=f32
// CASE: softmax_long --input=5x5000=f32
// CASE: softmax_half --input=9x2048=f16
// CASE: softmax_deep --input=3x5x7x64=f32
// CASE: layer_norm --input=19x768=f32 --input=768=f32 --input=768=f32
// CASE: layer_norm_half --input=19x4096=f16 --input=4096=f16 --input=4096=f16
// CASE: rms_norm --input=7x6000=f32 --input=6000=f32
// CASE: extremes --input=17x130=f32
// CASE: extremes --input=17x130=f32:positive
// CASE: largest_at --input=17x130=f32
// CASE: matvec --input=33x1024=f32:unit --input=1024=f32:unit
// CASE: few --input=2x17=f32
// CASE: whole --input=1000=f32
func.func @softmax(%a: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x256xf32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%m) : tensor<?xf32>
  %e2 = tensor.empty(%m) : tensor<?x256xf32>
  %e3 = tensor.empty(%m) : tensor<?x256xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %m1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x256xf32>) outs(%f1 : tensor<?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.maximumf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<?xf32>
  %x1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m1 : tensor<?x256xf32>, tensor<?xf32>) outs(%e2 : tensor<?x256xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.subf %v, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<?x256xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x1 : tensor<?x256xf32>) outs(%f2 : tensor<?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.addf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x1, %s1 : tensor<?x256xf32>, tensor<?xf32>) outs(%e3 : tensor<?x256xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.divf %v, %t : f32
      linalg.yield %d : f32
  } -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @softmax_odd(%a: tensor<9x1003xf32>) -> tensor<9x1003xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<9xf32>
  %e2 = tensor.empty() : tensor<9x1003xf32>
  %e3 = tensor.empty() : tensor<9x1003xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
  %m1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<9x1003xf32>) outs(%f1 : tensor<9xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.maximumf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<9xf32>
  %x1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m1 : tensor<9x1003xf32>, tensor<9xf32>) outs(%e2 : tensor<9x1003xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.subf %v, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<9x1003xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x1 : tensor<9x1003xf32>) outs(%f2 : tensor<9xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.addf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x1, %s1 : tensor<9x1003xf32>, tensor<9xf32>) outs(%e3 : tensor<9x1003xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.divf %v, %t : f32
      linalg.yield %d : f32
  } -> tensor<9x1003xf32>
  return %r : tensor<9x1003xf32>
}
func.func @softmax_long(%a: tensor<5x5000xf32>) -> tensor<5x5000xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<5xf32>
  %e2 = tensor.empty() : tensor<5x5000xf32>
  %e3 = tensor.empty() : tensor<5x5000xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
  %m1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x5000xf32>) outs(%f1 : tensor<5xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.maximumf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<5xf32>
  %x1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m1 : tensor<5x5000xf32>, tensor<5xf32>) outs(%e2 : tensor<5x5000xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.subf %v, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<5x5000xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x1 : tensor<5x5000xf32>) outs(%f2 : tensor<5xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.addf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x1, %s1 : tensor<5x5000xf32>, tensor<5xf32>) outs(%e3 : tensor<5x5000xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.divf %v, %t : f32
      linalg.yield %d : f32
  } -> tensor<5x5000xf32>
  return %r : tensor<5x5000xf32>
}
func.func @softmax_half(%a: tensor<9x2048xf16>) -> tensor<9x2048xf16> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<9xf32>
  %e2 = tensor.empty() : tensor<9x2048xf32>
  %e3 = tensor.empty() : tensor<9x2048xf16>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
  %m1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<9x2048xf16>) outs(%f1 : tensor<9xf32>) {
    ^bb0(%v: f16, %o: f32):
      %w = arith.extf %v : f16 to f32
      %x = arith.maximumf %w, %o : f32
      linalg.yield %x : f32
  } -> tensor<9xf32>
  %x1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m1 : tensor<9x2048xf16>, tensor<9xf32>) outs(%e2 : tensor<9x2048xf32>) {
    ^bb0(%v: f16, %t: f32, %o: f32):
      %w = arith.extf %v : f16 to f32
      %d = arith.subf %w, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<9x2048xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x1 : tensor<9x2048xf32>) outs(%f2 : tensor<9xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.addf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x1, %s1 : tensor<9x2048xf32>, tensor<9xf32>) outs(%e3 : tensor<9x2048xf16>) {
    ^bb0(%v: f32, %t: f32, %o: f16):
      %d = arith.divf %v, %t : f32
      %q = arith.truncf %d : f32 to f16
      linalg.yield %q : f16
  } -> tensor<9x2048xf16>
  return %r : tensor<9x2048xf16>
}
func.func @softmax_deep(%a: tensor<3x5x7x64xf32>) -> tensor<3x5x7x64xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<3x5x7xf32>
  %e2 = tensor.empty() : tensor<3x5x7x64xf32>
  %e3 = tensor.empty() : tensor<3x5x7x64xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %m1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a : tensor<3x5x7x64xf32>) outs(%f1 : tensor<3x5x7xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.maximumf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<3x5x7xf32>
  %x1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %m1 : tensor<3x5x7x64xf32>, tensor<3x5x7xf32>) outs(%e2 : tensor<3x5x7x64xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.subf %v, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<3x5x7x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x1 : tensor<3x5x7x64xf32>) outs(%f2 : tensor<3x5x7xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.addf %v, %o : f32
      linalg.yield %x : f32
  } -> tensor<3x5x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x1, %s1 : tensor<3x5x7x64xf32>, tensor<3x5x7xf32>) outs(%e3 : tensor<3x5x7x64xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.divf %v, %t : f32
      linalg.yield %d : f32
  } -> tensor<3x5x7x64xf32>
  return %r : tensor<3x5x7x64xf32>
}
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>
func.func @layer_norm(%a: tensor<19x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<19x768xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %small = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<19xf32>
  %e2 = tensor.empty() : tensor<19x768xf32>
  %e3 = tensor.empty() : tensor<19x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<19xf32>) -> tensor<19xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<19x768xf32>) outs(%f : tensor<19xf32>) {
    ^bb0(%v: f32, %o: f32):
      %w = arith.addf %v, %zero : f32
      %x = arith.addf %w, %o : f32
      linalg.yield %x : f32
  } -> tensor<19xf32>
  %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%s : tensor<19xf32>) outs(%e1 : tensor<19xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.divf %v, %n : f32
      linalg.yield %x : f32
  } -> tensor<19xf32>
  %c = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %mean : tensor<19x768xf32>, tensor<19xf32>) outs(%e2 : tensor<19x768xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %w = arith.addf %v, %zero : f32
      %x = arith.subf %w, %t : f32
      linalg.yield %x : f32
  } -> tensor<19x768xf32>
  %q = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<19x768xf32>) outs(%f : tensor<19xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %v : f32
      %x = arith.addf %p, %o : f32
      linalg.yield %x : f32
  } -> tensor<19xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #column, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %q, %g, %b : tensor<19x768xf32>, tensor<19xf32>, tensor<768xf32>, tensor<768xf32>) outs(%e3 : tensor<19x768xf32>) {
    ^bb0(%v: f32, %t: f32, %scale: f32, %shift: f32, %o: f32):
      %w1 = arith.addf %scale, %zero : f32
      %w2 = arith.addf %shift, %zero : f32
      %u = arith.divf %t, %n : f32
      %y = arith.addf %u, %small : f32
      %z = math.rsqrt %y : f32
      %d = arith.mulf %v, %z : f32
      %k = arith.mulf %d, %w1 : f32
      %l = arith.addf %k, %w2 : f32
      linalg.yield %l : f32
  } -> tensor<19x768xf32>
  return %r : tensor<19x768xf32>
}
func.func @layer_norm_half(%a: tensor<19x4096xf16>, %g: tensor<4096xf16>, %b: tensor<4096xf16>) -> tensor<19x4096xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %small = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<19xf32>
  %e2 = tensor.empty() : tensor<19x4096xf32>
  %e3 = tensor.empty() : tensor<19x4096xf16>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<19xf32>) -> tensor<19xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<19x4096xf16>) outs(%f : tensor<19xf32>) {
    ^bb0(%v: f16, %o: f32):
      %w = arith.extf %v : f16 to f32
      %x = arith.addf %w, %o : f32
      linalg.yield %x : f32
  } -> tensor<19xf32>
  %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%s : tensor<19xf32>) outs(%e1 : tensor<19xf32>) {
    ^bb0(%v: f32, %o: f32):
      %x = arith.divf %v, %n : f32
      linalg.yield %x : f32
  } -> tensor<19xf32>
  %c = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %mean : tensor<19x4096xf16>, tensor<19xf32>) outs(%e2 : tensor<19x4096xf32>) {
    ^bb0(%v: f16, %t: f32, %o: f32):
      %w = arith.extf %v : f16 to f32
      %x = arith.subf %w, %t : f32
      linalg.yield %x : f32
  } -> tensor<19x4096xf32>
  %q = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<19x4096xf32>) outs(%f : tensor<19xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %v : f32
      %x = arith.addf %p, %o : f32
      linalg.yield %x : f32
  } -> tensor<19xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #column, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %q, %g, %b : tensor<19x4096xf32>, tensor<19xf32>, tensor<4096xf16>, tensor<4096xf16>) outs(%e3 : tensor<19x4096xf16>) {
    ^bb0(%v: f32, %t: f32, %scale: f16, %shift: f16, %o: f16):
      %w1 = arith.extf %scale : f16 to f32
      %w2 = arith.extf %shift : f16 to f32
      %u = arith.divf %t, %n : f32
      %y = arith.addf %u, %small : f32
      %z = math.rsqrt %y : f32
      %d = arith.mulf %v, %z : f32
      %k = arith.mulf %d, %w1 : f32
      %l = arith.addf %k, %w2 : f32
      %q1 = arith.truncf %l : f32 to f16
      linalg.yield %q1 : f16
  } -> tensor<19x4096xf16>
  return %r : tensor<19x4096xf16>
}
func.func @rms_norm(%a: tensor<7x6000xf32>, %g: tensor<6000xf32>) -> tensor<7x6000xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 6000.0 : f32
  %e1 = tensor.empty() : tensor<7xf32>
  %e2 = tensor.empty() : tensor<7x6000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<7xf32>) -> tensor<7xf32>
  %q = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x6000xf32>) outs(%f : tensor<7xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %v : f32
      %x = arith.addf %p, %o : f32
      linalg.yield %x : f32
  } -> tensor<7xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %q, %g : tensor<7x6000xf32>, tensor<7xf32>, tensor<6000xf32>) outs(%e2 : tensor<7x6000xf32>) {
    ^bb0(%v: f32, %t: f32, %scale: f32, %o: f32):
      %u = arith.divf %t, %n : f32
      %z = math.rsqrt %u : f32
      %d = arith.mulf %v, %z : f32
      %k = arith.mulf %d, %scale : f32
      linalg.yield %k : f32
  } -> tensor<7x6000xf32>
  return %r : tensor<7x6000xf32>
}
// Two results of one pass.
func.func @extremes(%a: tensor<17x130xf32>) -> (tensor<17xf32>, tensor<17xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<17xf32>
  %e1 = tensor.empty() : tensor<17xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e : tensor<17xf32>) -> tensor<17xf32>
  %f2 = linalg.fill ins(%high : f32) outs(%e1 : tensor<17xf32>) -> tensor<17xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<17x130xf32>) outs(%f1, %f2 : tensor<17xf32>, tensor<17xf32>) {
    ^bb0(%v: f32, %o: f32, %p: f32):
      %x = arith.maximumf %v, %o : f32
      %y = arith.minimumf %v, %p : f32
      linalg.yield %x, %y : f32, f32
  } -> (tensor<17xf32>, tensor<17xf32>)
  return %r#0, %r#1 : tensor<17xf32>, tensor<17xf32>
}
// Where a row's positive numbers are: the body asks for its place.
func.func @largest_at(%a: tensor<17x130xf32>) -> tensor<17xi32> {
  %low = arith.constant -1 : i32
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<17xi32>
  %f = linalg.fill ins(%low : i32) outs(%e : tensor<17xi32>) -> tensor<17xi32>
  %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<17x130xf32>) outs(%f : tensor<17xi32>) {
    ^bb0(%v: f32, %o: i32):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i32
      %is = arith.cmpf ogt, %v, %none : f32
      %m = arith.select %is, %n, %low : i32
      %x = arith.maxsi %m, %o : i32
      linalg.yield %x : i32
  } -> tensor<17xi32>
  return %r : tensor<17xi32>
}
func.func @matvec(%a: tensor<33x1024xf32>, %x: tensor<1024xf32>) -> tensor<33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %r = linalg.matvec ins(%a, %x : tensor<33x1024xf32>, tensor<1024xf32>) outs(%f : tensor<33xf32>) -> tensor<33xf32>
  return %r : tensor<33xf32>
}
func.func @few(%a: tensor<2x17xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<2x17xf32>) outs(%f : tensor<2xf32>) dimensions = [1]
  return %r : tensor<2xf32>
}
func.func @whole(%a: tensor<1000xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<1000xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
