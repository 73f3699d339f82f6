// Each phase that --compile-to= names prints a program that parses again.
// RUN: baton-compile --compile-to=input %s | baton-opt | FileCheck --check-prefix=INPUT %s
// RUN: baton-compile --compile-to=abi %s | baton-opt | FileCheck --check-prefix=ABI %s
// RUN: baton-compile --compile-to=preprocessing %s | baton-opt | FileCheck --check-prefix=ABI %s
// RUN: baton-compile --compile-to=global-optimization %s | baton-opt | FileCheck --check-prefix=FUSED %s
// RUN: baton-compile --compile-to=dispatch-creation %s | baton-opt | FileCheck --check-prefix=FLOW %s
// RUN: baton-compile --compile-to=flow %s | baton-opt | FileCheck --check-prefix=FLOW %s
// RUN: baton-compile --compile-to=stream %s | baton-opt | FileCheck --check-prefix=FLOW %s
// RUN: baton-compile --compile-to=executable-sources %s | baton-opt | FileCheck --check-prefix=KERNELS %s
// RUN: baton-compile --compile-to=executable-configurations %s | baton-opt | FileCheck --check-prefix=KERNELS %s
// RUN: baton-compile --compile-to=executable-targets %s | baton-opt | FileCheck --check-prefix=KERNELS %s
// RUN: baton-compile --compile-to=hal %s | baton-opt | FileCheck --check-prefix=HAL %s
// RUN: baton-compile --compile-to=vm %s | baton-opt | FileCheck --check-prefix=VM %s

// INPUT: util.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// ABI: hal.tensor.import
// FUSED: linalg.generic
// FUSED-NOT: linalg.generic
// FLOW: flow.dispatch @dispatch_groups::@main_0_generic
// FLOW: func.func @main_0_generic(%arg0: tensor<4xf32>) -> tensor<4xf32>
// KERNELS: hal.interface.binding.subspan
// HAL: vm.call.variadic @hal.queue.execute
// VM-NOT: scf.if
// VM: cf.cond_br
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  %z = arith.mulf %y, %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
