// A trap names the place in the program; a stripped file doesn't know it. Integer edges: division by zero, INT_MIN / -1.
// RUN: baton-compile %s -o %t.bvm
// RUN: not baton-run-module --module=%t.bvm --function=divide --input=7 --input=0 2>&1 | FileCheck %s
// RUN: not baton-run-module --module=%t.bvm --function=divide --input=-2147483648 --input=-1 2>&1 | FileCheck --check-prefix=OVERFLOW %s
// RUN: not baton-run-module --module=%t.bvm --function=narrow --input=-128 --input=-1 2>&1 | FileCheck --check-prefix=NARROW %s
// RUN: not baton-run-module --module=%t.bvm --function=floor --input=-32768 --input=-1 2>&1 | FileCheck --check-prefix=FLOOR %s
// RUN: baton-run-module --module=%t.bvm --function=narrow --input=-128 --input=-2 | FileCheck --check-prefix=FITS %s
// RUN: baton-compile --strip-debug %s -o %t.stripped.bvm
// RUN: not baton-run-module --module=%t.stripped.bvm --function=divide --input=7 --input=0 2>&1 | FileCheck --check-prefix=STRIPPED %s
// RUN: baton-compile --iree-strip-debug %s | diff - %t.stripped.bvm

// CHECK: division by zero
// CHECK-NEXT: at module.inner, word 0 ({{.*}}traps.mlir:[[# @LINE + 10]]:8)
// CHECK-NEXT: called from module.divide, word {{[0-9]+}} ({{.*}}traps.mlir:[[# @LINE + 5]]:8)
// OVERFLOW: div.s.i32: -2147483648, -1
// STRIPPED: division by zero
// STRIPPED-NOT: traps.mlir
func.func @divide(%a: i32, %b: i32) -> i32 {
  %q = call @inner(%a, %b) : (i32, i32) -> i32
  return %q : i32
}
func.func private @inner(%a: i32, %b: i32) -> i32 {
  %q = arith.divsi %a, %b : i32
  return %q : i32
}
// NARROW: overflow
// NARROW: traps.mlir:[[# @LINE + 3]]:8
// FITS: i32=64
func.func @narrow(%a: i8, %b: i8) -> i8 {
  %q = arith.divsi %a, %b : i8
  return %q : i8
}
// FLOOR: overflow
// FLOOR: traps.mlir:[[# @LINE + 2]]:8
func.func @floor(%a: i16, %b: i16) -> i16 {
  %q = arith.floordivsi %a, %b : i16
  return %q : i16
}
