// Every form of the dialects `vm` and `check` reads, prints, and reads back as what it was.
// RUN: baton-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: baton-opt --allow-unregistered-dialect %s > %t.1 && baton-opt --allow-unregistered-dialect %t.1 | diff %t.1 -

// CHECK: vm.import private optional @acme.maybe(%arg0 : !vm.ref<!acme.obj>) -> i32 attributes {minimum_version = 3 : i32, nosideeffects}
vm.import private optional @acme.maybe(%a : !vm.ref<!acme.obj>) -> i32 attributes {minimum_version = 3 : i32, nosideeffects}
// CHECK: vm.import private @acme.many(%arg0 : i32, %arg1 : !vm.buffer ...)
vm.import private @acme.many(%a : i32, %b : !vm.buffer ...)

// CHECK: func.func private @custom.length(!custom.string) -> index attributes {vm.signature = (!vm.ref<!custom.string>) -> i64}
func.func private @custom.length(!custom.string) -> index attributes {vm.signature = (!vm.ref<!custom.string>) -> i64}

// CHECK-LABEL: func.func @calls
func.func @calls(%a: i32, %o: !vm.ref<!acme.obj>, %b: !vm.buffer, %l: !vm.list<?>, %any: !vm.ref<?>, %t: tensor<2xf32>) {
  // CHECK: vm.import.resolved @acme.maybe : i32
  %r = vm.import.resolved @acme.maybe : i32
  // CHECK: vm.call @acme.maybe(%{{.*}}) : (!vm.ref<!acme.obj>) -> i32
  %m = vm.call @acme.maybe(%o) : (!vm.ref<!acme.obj>) -> i32
  // CHECK: vm.call.variadic @acme.many(%{{.*}}, %{{.*}}, %{{.*}}) segments([2]) : (i32, !vm.buffer, !vm.buffer) -> ()
  vm.call.variadic @acme.many(%a, %b, %b) segments([2]) : (i32, !vm.buffer, !vm.buffer) -> ()
  // CHECK: check.expect_true(%{{.*}}) : i32
  check.expect_true(%a) : i32
  // CHECK: check.expect_eq_const(%{{.*}}, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_eq_const(%t, dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const(%{{.*}}, dense<1.000000e+00> : tensor<2xf32>) : tensor<2xf32>
  check.expect_almost_eq_const(%t, dense<1.0> : tensor<2xf32>) : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const(%{{.*}}, dense<1.000000e+00> : tensor<2xf32>, atol {{.*}}, rtol {{.*}}) : tensor<2xf32>
  check.expect_almost_eq_const(%t, dense<1.0> : tensor<2xf32>, atol 0.25, rtol 0.125) : tensor<2xf32>
  return
}
