// Ten operations become one loop that writes into the result: no memory of its own, no copy.
// RUN: baton-codegen --emit=loops %s | FileCheck %s

// CHECK-LABEL: func.func @chain()
// CHECK-NOT: alloc
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.subf
// CHECK-NEXT: math.absf
// CHECK: memref.store
// CHECK-NOT: memref.store
func.func @chain(%a: tensor<?x7xf32>, %b: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %1 = arith.addf %a, %b : tensor<?x7xf32>
  %2 = arith.mulf %1, %a : tensor<?x7xf32>
  %3 = arith.subf %2, %b : tensor<?x7xf32>
  %4 = math.absf %3 : tensor<?x7xf32>
  %5 = arith.addf %4, %a : tensor<?x7xf32>
  %6 = arith.mulf %5, %b : tensor<?x7xf32>
  %7 = arith.negf %6 : tensor<?x7xf32>
  %8 = arith.addf %7, %a : tensor<?x7xf32>
  %9 = arith.mulf %8, %8 : tensor<?x7xf32>
  %10 = arith.addf %9, %a : tensor<?x7xf32>
  return %10 : tensor<?x7xf32>
}
