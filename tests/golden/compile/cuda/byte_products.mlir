// Products of bytes on tensor cores, summed in i32: tiles that fit and that don't, every way in which matrices can lie, both signs,
// batches, sums onto what is there, results of other types. Bytes that lie along rows of A, or columns of B, are turned in registers.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: baton-dump-module %t.bvm --extract=%t.files
// RUN: FileCheck %s --check-prefixes=CHECK,NEW --input-file=%t.files/dispatch_groups.cuda-ptx-compute_90a.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,NEW --input-file=%t.files/dispatch_groups.cuda-ptx-compute_80.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,OLD --input-file=%t.files/dispatch_groups.cuda-ptx-compute_75.ptx
// CASE: plain --input=256x128=i8 --input=128x256=i8
// CASE: turned_a --input=208x128=i8 --input=208x136=i8
// CASE: turned_b --input=128x192=i8 --input=136x192=i8
// CASE: turned_both --input=96x144=i8 --input=128x96=i8
// CASE: unsigned --input=256x160=i8 --input=160x128=i8
// CASE: unsigned_turned --input=96x130=i8 --input=144x96=i8
// CASE: odd --input=131x77=i8 --input=77x143=i8
// CASE: odd_turned --input=77x131=i8 --input=143x77=i8
// CASE: open --input=256x64=i8 --input=64x64=i8
// CASE: open --input=129x72=i8 --input=72x136=i8
// CASE: open --input=100x70=i8 --input=70x90=i8
// CASE: open --input=65x33=i8 --input=33x129=i8
// CASE: open --input=2x2=i8 --input=2x2=i8
// CASE: open --input=512x300=i8 --input=300x1024=i8
// CASE: open_turned --input=64x256=i8 --input=64x64=i8
// CASE: open_turned --input=72x129=i8 --input=72x136=i8
// CASE: open_turned --input=33x65=i8 --input=33x129=i8
// CASE: batch --input=3x70x64=i8 --input=3x64x136=i8
// CASE: batch_turned --input=5x64x48=i8 --input=5x80x48=i8
// CASE: onto --input=130x64=i8 --input=64x144=i8 --input=130x144=i32
// CASE: as_floats --input=768x64=i8 --input=64x1280=i8
// CASE: as_bytes --input=768x64=i8 --input=1280x64=i8
// CASE: wide --input=512x320=i8 --input=320x1800=i8
// CASE: long --input=128x8192=i8 --input=8192x128=i8
// CASE: in_turn --input=1280x2048=i8 --input=2048x768=i8
// CHECK-LABEL: .entry plain_{{[0-9]+}}_generic(
// NEW: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// OLD-NOT: mma.sync
func.func @plain(%a: tensor<256x128xi8>, %b: tensor<128x256xi8>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x256xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<256x256xi32>) -> tensor<256x256xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x128xi8>, tensor<128x256xi8>) outs(%f : tensor<256x256xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}
// CHECK-LABEL: .entry turned_a_{{[0-9]+}}_generic(
// NEW: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// OLD-NOT: mma.sync
func.func @turned_a(%a: tensor<208x128xi8>, %b: tensor<208x136xi8>) -> tensor<128x136xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x136xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<128x136xi32>) -> tensor<128x136xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<208x128xi8>, tensor<208x136xi8>) outs(%f : tensor<128x136xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<128x136xi32>
  return %r : tensor<128x136xi32>
}
func.func @turned_b(%a: tensor<128x192xi8>, %b: tensor<136x192xi8>) -> tensor<128x136xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x136xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<128x136xi32>) -> tensor<128x136xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<128x192xi8>, tensor<136x192xi8>) outs(%f : tensor<128x136xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<128x136xi32>
  return %r : tensor<128x136xi32>
}
// CHECK-LABEL: .entry turned_both_{{[0-9]+}}_generic(
// NEW: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// OLD-NOT: mma.sync
func.func @turned_both(%a: tensor<96x144xi8>, %b: tensor<128x96xi8>) -> tensor<144x128xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<144x128xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<144x128xi32>) -> tensor<144x128xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<96x144xi8>, tensor<128x96xi8>) outs(%f : tensor<144x128xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<144x128xi32>
  return %r : tensor<144x128xi32>
}
// CHECK-LABEL: .entry unsigned_{{[0-9]+}}_generic(
// NEW: mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32
// OLD-NOT: mma.sync
func.func @unsigned(%a: tensor<256x160xi8>, %b: tensor<160x128xi8>) -> tensor<256x128xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x128xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<256x128xi32>) -> tensor<256x128xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x160xi8>, tensor<160x128xi8>) outs(%f : tensor<256x128xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extui %x : i8 to i32
    %w = arith.extui %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<256x128xi32>
  return %r : tensor<256x128xi32>
}
func.func @unsigned_turned(%a: tensor<96x130xi8>, %b: tensor<144x96xi8>) -> tensor<130x144xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<130x144xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<130x144xi32>) -> tensor<130x144xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<96x130xi8>, tensor<144x96xi8>) outs(%f : tensor<130x144xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extui %x : i8 to i32
    %w = arith.extui %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<130x144xi32>
  return %r : tensor<130x144xi32>
}
func.func @odd(%a: tensor<131x77xi8>, %b: tensor<77x143xi8>) -> tensor<131x143xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<131x143xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<131x143xi32>) -> tensor<131x143xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<131x77xi8>, tensor<77x143xi8>) outs(%f : tensor<131x143xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<131x143xi32>
  return %r : tensor<131x143xi32>
}
// CHECK-LABEL: .entry odd_turned_{{[0-9]+}}_generic(
// NEW: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// OLD-NOT: mma.sync
func.func @odd_turned(%a: tensor<77x131xi8>, %b: tensor<143x77xi8>) -> tensor<131x143xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<131x143xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<131x143xi32>) -> tensor<131x143xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<77x131xi8>, tensor<143x77xi8>) outs(%f : tensor<131x143xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<131x143xi32>
  return %r : tensor<131x143xi32>
}
func.func @open(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
func.func @open_turned(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c1 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
func.func @batch(%a: tensor<3x70x64xi8>, %b: tensor<3x64x136xi8>) -> tensor<3x70x136xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x70x136xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x70x136xi32>) -> tensor<3x70x136xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, m, n, k) -> (p, m, k)>, affine_map<(p, m, n, k) -> (p, k, n)>, affine_map<(p, m, n, k) -> (p, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x70x64xi8>, tensor<3x64x136xi8>) outs(%f : tensor<3x70x136xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<3x70x136xi32>
  return %r : tensor<3x70x136xi32>
}
func.func @batch_turned(%a: tensor<5x64x48xi8>, %b: tensor<5x80x48xi8>) -> tensor<5x64x80xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5x64x80xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<5x64x80xi32>) -> tensor<5x64x80xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, m, n, k) -> (p, m, k)>, affine_map<(p, m, n, k) -> (p, n, k)>, affine_map<(p, m, n, k) -> (p, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<5x64x48xi8>, tensor<5x80x48xi8>) outs(%f : tensor<5x64x80xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<5x64x80xi32>
  return %r : tensor<5x64x80xi32>
}
func.func @onto(%a: tensor<130x64xi8>, %b: tensor<64x144xi8>, %c: tensor<130x144xi32>) -> tensor<130x144xi32> {
  %zero = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<130x64xi8>, tensor<64x144xi8>) outs(%c : tensor<130x144xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<130x144xi32>
  return %r : tensor<130x144xi32>
}
// CHECK-LABEL: .entry as_floats_{{[0-9]+}}_generic(
// NEW: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// OLD-NOT: mma.sync
func.func @as_floats(%a: tensor<768x64xi8>, %b: tensor<64x1280xi8>) -> tensor<768x1280xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<768x1280xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<768x1280xi32>) -> tensor<768x1280xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<768x64xi8>, tensor<64x1280xi8>) outs(%f : tensor<768x1280xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<768x1280xi32>
  %o = tensor.empty() : tensor<768x1280xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<768x1280xi32>) outs(%o : tensor<768x1280xf32>) {
  ^bb0(%q: i32, %g: f32):
    %h = arith.sitofp %q : i32 to f32
    linalg.yield %h : f32
  } -> tensor<768x1280xf32>
  return %z : tensor<768x1280xf32>
}
func.func @as_bytes(%a: tensor<768x64xi8>, %b: tensor<1280x64xi8>) -> tensor<768x1280xi8> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<768x1280xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<768x1280xi32>) -> tensor<768x1280xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<768x64xi8>, tensor<1280x64xi8>) outs(%f : tensor<768x1280xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<768x1280xi32>
  %o = tensor.empty() : tensor<768x1280xi8>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<768x1280xi32>) outs(%o : tensor<768x1280xi8>) {
  ^bb0(%q: i32, %g: i8):
    %h = arith.trunci %q : i32 to i8
    linalg.yield %h : i8
  } -> tensor<768x1280xi8>
  return %z : tensor<768x1280xi8>
}
func.func @wide(%a: tensor<512x320xi8>, %b: tensor<320x1800xi8>) -> tensor<512x1800xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<512x1800xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<512x1800xi32>) -> tensor<512x1800xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x320xi8>, tensor<320x1800xi8>) outs(%f : tensor<512x1800xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<512x1800xi32>
  return %r : tensor<512x1800xi32>
}
func.func @long(%a: tensor<128x8192xi8>, %b: tensor<8192x128xi8>) -> tensor<128x128xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x128xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<128x128xi32>) -> tensor<128x128xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<128x8192xi8>, tensor<8192x128xi8>) outs(%f : tensor<128x128xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}
func.func @in_turn(%a: tensor<1280x2048xi8>, %b: tensor<2048x768xi8>) -> tensor<1280x768xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1280x768xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1280x768xi32>) -> tensor<1280x768xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1280x2048xi8>, tensor<2048x768xi8>) outs(%f : tensor<1280x768xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<1280x768xi32>
  return %r : tensor<1280x768xi32>
}
