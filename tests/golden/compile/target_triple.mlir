// The processors that code for local devices is made for: this machine's, or those that the command line names.
// RUN: rm -rf %t && mkdir %t
// RUN: baton-compile --llvmcpu-target-triple=aarch64-linux-gnu --target-device=local %s -o %t/arm.bvm && baton-dump-module %t/arm.bvm | FileCheck %s --check-prefix=ARM
// RUN: baton-compile --llvmcpu-target-triple=x86_64 %s -o %t/intel.bvm && baton-dump-module %t/intel.bvm | FileCheck %s --check-prefix=INTEL
// RUN: not baton-compile --llvmcpu-target-triple=riscv64 %s -o %t/none.bvm 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not baton-compile --llvmcpu-target-triple=aarch64_be --target-device=local %s -o %t/none.bvm 2>&1 | FileCheck %s --check-prefix=BIG

// ARM: variant "embedded-elf-arm_64"
// ARM-NOT: x86_64
// INTEL: variant "embedded-elf-x86_64"
// INTEL-NOT: arm_64
// OTHER: There is no code for processors of 'riscv64'; --llvmcpu-target-triple takes x86_64 and aarch64.
// BIG: There is no code for processors of 'aarch64_be'; --llvmcpu-target-triple takes x86_64 and aarch64.
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = arith.addf %x, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
}
