// Bits made of `x` under a mask that otherwise leaves `x`: LLVM 19 wrote a wrong vpternlog for some orders of operands, seen as
// wrong numbers of tanh in bf16 with AVX-512. The numbers are looked at at the processor's own level, the code at that one.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=tanh "--input=96xbf16=0.25" > %t.out
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=tanh "--input=96xbf16=-1.4375" >> %t.out
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=bits "--input=64xi32=305419896" "--input=64xi32=195948557" "--input=64xi32=16711935" "--input=64xi32=1" >> %t.out
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=bits "--input=64xi32=305419896" "--input=64xi32=195948557" "--input=64xi32=16711935" "--input=64xi32=0" >> %t.out
// RUN: FileCheck %s < %t.out
// RUN: baton-codegen --emit=asm --target-option=cpu-levels=avx512 %s | FileCheck --check-prefix=CODE %s

// Never merged into a register under a mask.
// CODE-NOT: vpternlog{{.*}}{%k{{[1-7]}}}{{$}}

// CHECK: 96xbf16=0.245117 0.245117
// CHECK: 96xbf16=-0.894531 -0.894531
func.func @tanh(%p: tensor<96xbf16>) -> tensor<96xbf16> {
  %e = tensor.empty() : tensor<96xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%p : tensor<96xbf16>) outs(%e : tensor<96xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    %r = math.tanh %x : bf16
    linalg.yield %r : bf16
  } -> tensor<96xbf16>
  return %o : tensor<96xbf16>
}

// Each order of three operands, keeping the first or the second of them.
// CHECK: 64xi32=305419896 305419896
// CHECK: 64xi32=195948557 195948557
// CHECK: 64xi32=305419896 305419896
// CHECK: 64xi32=195948557 195948557
// CHECK: 64xi32=305419896 305419896
// CHECK: 64xi32=195948557 195948557
// CHECK: 64xi32=305419896 305419896
// CHECK: 64xi32=195948557 195948557
// CHECK: 64xi32=305419896 305419896
// CHECK: 64xi32=195948557 195948557
// CHECK: 64xi32=305419896 305419896
// CHECK: 64xi32=195948557 195948557
// CHECK: 64xi32=49238159 49238159
// CHECK: 64xi32=49238159 49238159
// CHECK: 64xi32=163422333 163422333
// CHECK: 64xi32=163422333 163422333
// CHECK: 64xi32=41308410 41308410
// CHECK: 64xi32=41308410 41308410
// CHECK: 64xi32=280823421 280823421
// CHECK: 64xi32=280823421 280823421
// CHECK: 64xi32=188018808 188018808
// CHECK: 64xi32=188018808 188018808
// CHECK: 64xi32=313349645 313349645
// CHECK: 64xi32=313349645 313349645
func.func @bits(%p: tensor<64xi32>, %q: tensor<64xi32>, %s: tensor<64xi32>, %w: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
  %e = tensor.empty() : tensor<64xi32>
  %all:12 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%p, %q, %s, %w : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>)
      outs(%e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
  ^bb0(%x: i32, %y: i32, %m: i32, %flag: i32, %u0: i32, %u1: i32, %u2: i32, %u3: i32, %u4: i32, %u5: i32, %u6: i32, %u7: i32, %u8: i32, %u9: i32, %u10: i32, %u11: i32):
    %ones = arith.constant -1 : i32
    %zero = arith.constant 0 : i32
    %which = arith.cmpi ne, %flag, %zero : i32
    %a0 = arith.andi %x, %y : i32
    %n0 = arith.xori %x, %ones : i32
    %b0 = arith.andi %n0, %m : i32
    %o0 = arith.ori %a0, %b0 : i32
    %r0 = arith.select %which, %x, %o0 : i32
    %a1 = arith.andi %x, %y : i32
    %n1 = arith.xori %x, %ones : i32
    %b1 = arith.andi %n1, %m : i32
    %o1 = arith.ori %a1, %b1 : i32
    %r1 = arith.select %which, %y, %o1 : i32
    %a2 = arith.andi %x, %m : i32
    %n2 = arith.xori %x, %ones : i32
    %b2 = arith.andi %n2, %y : i32
    %o2 = arith.ori %a2, %b2 : i32
    %r2 = arith.select %which, %x, %o2 : i32
    %a3 = arith.andi %x, %m : i32
    %n3 = arith.xori %x, %ones : i32
    %b3 = arith.andi %n3, %y : i32
    %o3 = arith.ori %a3, %b3 : i32
    %r3 = arith.select %which, %y, %o3 : i32
    %a4 = arith.andi %y, %x : i32
    %n4 = arith.xori %y, %ones : i32
    %b4 = arith.andi %n4, %m : i32
    %o4 = arith.ori %a4, %b4 : i32
    %r4 = arith.select %which, %x, %o4 : i32
    %a5 = arith.andi %y, %x : i32
    %n5 = arith.xori %y, %ones : i32
    %b5 = arith.andi %n5, %m : i32
    %o5 = arith.ori %a5, %b5 : i32
    %r5 = arith.select %which, %y, %o5 : i32
    %a6 = arith.andi %y, %m : i32
    %n6 = arith.xori %y, %ones : i32
    %b6 = arith.andi %n6, %x : i32
    %o6 = arith.ori %a6, %b6 : i32
    %r6 = arith.select %which, %x, %o6 : i32
    %a7 = arith.andi %y, %m : i32
    %n7 = arith.xori %y, %ones : i32
    %b7 = arith.andi %n7, %x : i32
    %o7 = arith.ori %a7, %b7 : i32
    %r7 = arith.select %which, %y, %o7 : i32
    %a8 = arith.andi %m, %x : i32
    %n8 = arith.xori %m, %ones : i32
    %b8 = arith.andi %n8, %y : i32
    %o8 = arith.ori %a8, %b8 : i32
    %r8 = arith.select %which, %x, %o8 : i32
    %a9 = arith.andi %m, %x : i32
    %n9 = arith.xori %m, %ones : i32
    %b9 = arith.andi %n9, %y : i32
    %o9 = arith.ori %a9, %b9 : i32
    %r9 = arith.select %which, %y, %o9 : i32
    %a10 = arith.andi %m, %y : i32
    %n10 = arith.xori %m, %ones : i32
    %b10 = arith.andi %n10, %x : i32
    %o10 = arith.ori %a10, %b10 : i32
    %r10 = arith.select %which, %x, %o10 : i32
    %a11 = arith.andi %m, %y : i32
    %n11 = arith.xori %m, %ones : i32
    %b11 = arith.andi %n11, %x : i32
    %o11 = arith.ori %a11, %b11 : i32
    %r11 = arith.select %which, %y, %o11 : i32
    linalg.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11 : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  } -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>)
  return %all#0, %all#1, %all#2, %all#3, %all#4, %all#5, %all#6, %all#7, %all#8, %all#9, %all#10, %all#11 : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
}
