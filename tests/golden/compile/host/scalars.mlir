// Scalar arithmetic computes what arith and math say; expectations stand beside the operations.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --module=%t.bvm --function=integers --input=-7 --input=2 > %t.out
// RUN: baton-run-module --module=%t.bvm --function=unsigned --input=-7 --input=2 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=shifts --input=-8 --input=40 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=wide --input=-1 --input=3 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=floats --input=2.5 --input=-1.5 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=ordered --input=nan --input=1 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=conversions --input=-3 --input=1e10 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=halves --input=3 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=narrow --input=100 --input=50 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=narrow --input=-128 --input=3 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=bits --input=0 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=bits --input=40 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=bool --input=1 --input=0 >> %t.out
// RUN: FileCheck %s < %t.out

// CHECK-LABEL: EXEC @integers
func.func @integers(%a: i32, %b: i32) -> (i32, i32, i32, i32, i32, i32, i32) {
  // CHECK-NEXT: i32=-3
  %div = arith.divsi %a, %b : i32
  // CHECK-NEXT: i32=-1
  %rem = arith.remsi %a, %b : i32
  // CHECK-NEXT: i32=-3
  %ceil = arith.ceildivsi %a, %b : i32
  // CHECK-NEXT: i32=-4
  %floor = arith.floordivsi %a, %b : i32
  // CHECK-NEXT: i32=-7
  %min = arith.minsi %a, %b : i32
  // CHECK-NEXT: i32=7
  %abs = math.absi %a : i32
  // CHECK-NEXT: i32=49
  %pow = math.ipowi %a, %b : i32
  return %div, %rem, %ceil, %floor, %min, %abs, %pow : i32, i32, i32, i32, i32, i32, i32
}
// CHECK-LABEL: EXEC @unsigned
func.func @unsigned(%a: i32, %b: i32) -> (i32, i32, i32, i1) {
  // CHECK-NEXT: i32=2147483644
  %div = arith.divui %a, %b : i32
  // CHECK-NEXT: i32=1
  %rem = arith.remui %a, %b : i32
  // CHECK-NEXT: i32=2
  %min = arith.minui %a, %b : i32
  // CHECK-NEXT: i32=0
  %less = arith.cmpi ult, %a, %b : i32
  return %div, %rem, %min, %less : i32, i32, i32, i1
}
// Beyond the width nothing is left but the sign.
// CHECK-LABEL: EXEC @shifts
func.func @shifts(%a: i32, %far: i32) -> (i32, i32, i32, i32, i32) {
  %one = arith.constant 1 : i32
  // CHECK-NEXT: i32=0
  %left = arith.shli %a, %far : i32
  // CHECK-NEXT: i32=-1
  %right = arith.shrsi %a, %far : i32
  // CHECK-NEXT: i32=0
  %fill = arith.shrui %a, %far : i32
  // CHECK-NEXT: i32=-4
  %near = arith.shrsi %a, %one : i32
  // CHECK-NEXT: i32=2147483644
  %near_fill = arith.shrui %a, %one : i32
  return %left, %right, %fill, %near, %near_fill : i32, i32, i32, i32, i32
}
// CHECK-LABEL: EXEC @wide
func.func @wide(%a: i64, %b: i64) -> (i64, i64, i64, i1, i64) {
  // CHECK-NEXT: i64=-3
  // CHECK-NEXT: i64=2
  %low, %high = arith.mului_extended %a, %b : i64
  // CHECK-NEXT: i64=2
  // CHECK-NEXT: i32=1
  %sum, %carry = arith.addui_extended %a, %b : i64, i1
  // CHECK-NEXT: i64=1311768467463790320
  %constant = arith.constant 0x123456789ABCDEF0 : i64
  return %low, %high, %sum, %carry, %constant : i64, i64, i64, i1, i64
}
// CHECK-LABEL: EXEC @floats
func.func @floats(%a: f32, %b: f32) -> (f32, f32, f32, f32, f32, f64) {
  // CHECK-NEXT: f32=-3.75
  %mul = arith.mulf %a, %b : f32
  // CHECK-NEXT: f32=-1.5
  %min = arith.minimumf %a, %b : f32
  // CHECK-NEXT: f32=2
  %even = math.roundeven %a : f32
  // CHECK-NEXT: f32=4.75
  %fma = math.fma %a, %a, %b : f32
  // CHECK-NEXT: f32=12.1825
  %exp = math.exp %a : f32
  // CHECK-NEXT: f64=1.58114
  %wide = arith.extf %a : f32 to f64
  %sqrt = math.sqrt %wide : f64
  return %mul, %min, %even, %fma, %exp, %sqrt : f32, f32, f32, f32, f32, f64
}
// Comparisons with NaN, as a value and as a branch.
// CHECK-LABEL: EXEC @ordered
func.func @ordered(%a: f32, %b: f32) -> (i1, i1, i32, i32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  // CHECK-NEXT: i32=0
  %ordered = arith.cmpf olt, %a, %b : f32
  // CHECK-NEXT: i32=1
  %unordered = arith.cmpf ult, %a, %b : f32
  // CHECK-NEXT: i32=2
  %o = arith.cmpf oge, %a, %b : f32
  %x = scf.if %o -> i32 { scf.yield %one : i32 } else { scf.yield %two : i32 }
  // CHECK-NEXT: i32=1
  %u = arith.cmpf uge, %a, %b : f32
  %y = scf.if %u -> i32 { scf.yield %one : i32 } else { scf.yield %two : i32 }
  return %ordered, %unordered, %x, %y : i1, i1, i32, i32
}
// CHECK-LABEL: EXEC @conversions
func.func @conversions(%a: i32, %big: f32) -> (i64, i64, f32, f32, i32, i32) {
  // CHECK-NEXT: i64=-3
  %signed = arith.extsi %a : i32 to i64
  // CHECK-NEXT: i64=4294967293
  %unsigned = arith.extui %a : i32 to i64
  // CHECK-NEXT: f32=-3
  %float = arith.sitofp %a : i32 to f32
  // CHECK-NEXT: f32=4.29497E+09
  %ufloat = arith.uitofp %a : i32 to f32
  // CHECK-NEXT: i32=2147483647
  %int = arith.fptosi %big : f32 to i32
  // CHECK-NEXT: i32=-1069547520
  %bits = arith.bitcast %float : f32 to i32
  return %signed, %unsigned, %float, %ufloat, %int, %bits : i64, i64, f32, f32, i32, i32
}
// CHECK-LABEL: EXEC @halves
func.func @halves(%a: f32) -> (f32, f32, i1) {
  %half = arith.truncf %a : f32 to f16
  %factor = arith.constant 2.5 : f16
  // CHECK-NEXT: f32=2.73828
  %product = arith.mulf %half, %factor : f16
  %root = math.sqrt %product : f16
  %wide = arith.extf %root : f16 to f32
  // CHECK-NEXT: f32=9
  %brain = arith.truncf %a : f32 to bf16
  %square = arith.mulf %brain, %brain : bf16
  %widened = arith.extf %square : bf16 to f32
  // CHECK-NEXT: i32=1
  %less = arith.cmpf olt, %half, %product : f16
  return %wide, %widened, %less : f32, f32, i1
}
// CHECK-LABEL: EXEC @narrow
// CHECK-NEXT: i32=-106
// CHECK-NEXT: i32=0
// CHECK-NEXT: i32=2
// CHECK-NEXT: i32=-106
// CHECK-LABEL: EXEC @narrow
// CHECK-NEXT: i32=-125
// CHECK-NEXT: i32=1
// CHECK-NEXT: i32=-42
// CHECK-NEXT: i32=-125
func.func @narrow(%a: i8, %b: i8) -> (i8, i1, i8, i32) {
  %sum = arith.addi %a, %b : i8
  %less = arith.cmpi slt, %a, %b : i8
  %quotient = arith.divsi %a, %b : i8
  %wide = arith.extsi %sum : i8 to i32
  return %sum, %less, %quotient, %wide : i8, i1, i8, i32
}
// CHECK-LABEL: EXEC @bits
// CHECK-NEXT: i32=16
// CHECK-NEXT: i32=16
// CHECK-NEXT: i32=0
// CHECK-LABEL: EXEC @bits
// CHECK-NEXT: i32=10
// CHECK-NEXT: i32=3
// CHECK-NEXT: i32=2
func.func @bits(%a: i16) -> (i16, i16, i16) {
  %leading = math.ctlz %a : i16
  %trailing = math.cttz %a : i16
  %ones = math.ctpop %a : i16
  return %leading, %trailing, %ones : i16, i16, i16
}
// CHECK-LABEL: EXEC @bool
func.func @bool(%a: i1, %b: i1) -> (i1, i1, i32, i32) {
  // CHECK-NEXT: i32=1
  %sum = arith.addi %a, %b : i1
  // CHECK-NEXT: i32=1
  %xor = arith.xori %a, %b : i1
  // CHECK-NEXT: i32=-1
  %signed = arith.extsi %a : i1 to i32
  // CHECK-NEXT: i32=1
  %unsigned = arith.extui %a : i1 to i32
  return %sum, %xor, %signed, %unsigned : i1, i1, i32, i32
}
