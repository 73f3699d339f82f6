// A program for two kinds of devices carries code for both; the kernels of each have a grid of their own, and the program
// asks which code the device took. It runs wherever one of them fits.
// RUN: baton-compile --target-device=local --target-device=cuda %s -o %t.bvm
// RUN: baton-dump-module %t.bvm --section=executables | FileCheck %s --check-prefix=CODE
// RUN: baton-run-module %t.bvm --device=local-sync --function=add --input=5xf32=1,2,3,4,5 | FileCheck %s --check-prefix=RUN-LOCAL
// RUN: baton-run-module %t.bvm --device=local-sync --function=last --input=5xf32=1,2,3,4,5 | FileCheck %s --check-prefix=LAST
// RUN: baton-compile --target-device=local --target-device=cuda --compile-to=hal %s | FileCheck %s
// RUN: baton-compile --target-device=cuda %s -o %t.cuda.bvm
// RUN: baton-dump-module %t.cuda.bvm --section=executables | FileCheck %s --check-prefix=ONE
// RUN: not baton-run-module %t.cuda.bvm --device=local-sync --function=add --input=5xf32=1 2>&1 | FileCheck %s --check-prefix=NONE
// CODE: executables (1)
// CODE: embedded-elf-{{x86_64|arm_64}}: {{[0-9]+}} bytes (elf)
// CODE: cuda-ptx-compute_75: {{[0-9]+}} bytes (ptx)
// CODE: entry point add_0_generic
// RUN-LOCAL: 5xf32=2 4 6 8 10{{$}}
// LAST: f32=10{{$}}
// ONE: executables (1)
// ONE-NOT: elf
// ONE: cuda-ptx-compute_75: {{[0-9]+}} bytes (ptx)
// NONE: cuda-ptx-compute_75

// CHECK: util.initializer
// CHECK: vm.call.variadic @hal.executable.load({{.*}}) segments([0, 0])
// CHECK: %[[VARIANT:.*]] = util.call @hal.executable.variant
// CHECK: %[[BLOCKS:.*]] = arith.cmpi uge, %[[VARIANT]], %c1_i32
// CHECK: util.global.store %[[BLOCKS]], @blocks.dispatch_groups
// CHECK-LABEL: util.func public @add
// CHECK: %[[TAKEN:.*]] = util.global.load @blocks.dispatch_groups
// CHECK: arith.select %[[TAKEN]]
func.func @add(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
// The host reads what the device need not show it.
// CHECK-LABEL: util.func public @last
// CHECK: util.call @hal.device.load
func.func @last(%a: tensor<5xf32>) -> f32 {
  %four = arith.constant 4 : index
  %r = arith.addf %a, %a : tensor<5xf32>
  %e = tensor.extract %r[%four] : tensor<5xf32>
  return %e : f32
}
