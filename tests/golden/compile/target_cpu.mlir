// A processor's name means the best level that it has, whoever spells the flag; features change what a name means; what says the same
// twice is refused, and a name that is none comes with the list.
// RUN: rm -rf %t && mkdir %t
// RUN: baton-compile --llvmcpu-target-triple=x86_64 --cpu-levels=baseline %s -o %t/baseline && baton-compile --llvmcpu-target-triple=x86_64 --cpu-levels=avx2 %s -o %t/avx2 && baton-compile --llvmcpu-target-triple=x86_64 --cpu-levels=avx512 %s -o %t/avx512
// RUN: baton-compile --llvmcpu-target-triple=x86_64 --llvmcpu-target-cpu=generic %s -o %t/a && cmp %t/a %t/baseline
// RUN: baton-compile --llvmcpu-target-triple=x86_64 -march=nehalem %s -o %t/a && cmp %t/a %t/baseline
// RUN: baton-compile --llvmcpu-target-triple=x86_64 --iree-llvmcpu-target-cpu=haswell %s -o %t/a && cmp %t/a %t/avx2
// RUN: baton-compile --llvmcpu-target-triple=x86_64 --mcpu=knl %s -o %t/a && cmp %t/a %t/avx2
// RUN: baton-compile --llvmcpu-target-triple=x86_64 -march=znver4 %s -o %t/a && cmp %t/a %t/avx512
// RUN: baton-compile --llvmcpu-target-triple=x86_64 --iree_llvmcpu_target_cpu=x86-64-v4 %s -o %t/a && cmp %t/a %t/avx512
// RUN: baton-compile --llvmcpu-target-triple=x86_64 -march=znver4 --iree-llvmcpu-target-cpu-features=-avx512vl %s -o %t/a && cmp %t/a %t/avx2
// RUN: baton-compile --llvmcpu-target-triple=x86_64 --llvmcpu-target-cpu-features=+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe %s -o %t/a && cmp %t/a %t/avx2
// The machine's own, where it is an x86_64; elsewhere it says nothing about that.
// RUN: baton-compile --llvmcpu-target-triple=x86_64 -march=native %s -o %t/native && baton-compile --llvmcpu-target-triple=x86_64 --iree-llvmcpu-target-cpu=host --iree-llvmcpu-target-cpu-features=host %s -o %t/host && cmp %t/native %t/host
// RUN: cmp %t/native %t/baseline || cmp %t/native %t/avx2 || cmp %t/native %t/avx512
// RUN: baton-compile --llvmcpu-target-triple=aarch64 %s -o %t/arm
// RUN: baton-compile --llvmcpu-target-triple=aarch64 -mcpu=neoverse-n1 %s -o %t/a && cmp %t/a %t/arm
// RUN: baton-compile --llvmcpu-target-triple=aarch64 -mcpu=generic %s -o %t/a && cmp %t/a %t/arm
// RUN: baton-compile --llvmcpu-target-triple=aarch64 -mcpu=native %s -o %t/a && cmp %t/a %t/arm
// RUN: not baton-compile --llvmcpu-target-triple=x86_64 -march=pentium4 %s -o %t/a 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not baton-compile --llvmcpu-target-triple=aarch64 -march=haswell %s -o %t/a 2>&1 | FileCheck %s --check-prefix=ARM
// RUN: not baton-compile --llvmcpu-target-triple=x86_64 --llvmcpu-target-cpu-features=+fma,avx2 %s -o %t/a 2>&1 | FileCheck %s --check-prefix=FEATURE
// RUN: not baton-compile --llvmcpu-target-triple=x86_64 --llvmcpu-target-cpu-features=+avx99 %s -o %t/a 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not baton-compile --llvmcpu-target-triple=x86_64 -march=haswell --cpu-levels=avx2 %s -o %t/a 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not baton-compile --llvmcpu-target-triple=x86_64 -march=haswell --llvmcpu-target-cpu-features=host %s -o %t/a 2>&1 | FileCheck %s --check-prefix=OTHER

// NONE: There is no processor 'pentium4' of x86_64; there are generic, {{.*}}haswell, {{.*}}x86-64-v4{{.*}}; host and native are this machine's.
// NONE-NOT: i386
// ARM: There is no processor 'haswell' of aarch64; there are generic, {{.*}}neoverse-n1, {{.*}}; host and native are this machine's.
// FEATURE: There is no feature 'avx2' of processors of x86_64; a feature is written +name, or -name where it is not there.
// UNKNOWN: There is no feature '+avx99' of processors of x86_64;
// TWICE: --cpu-levels says for which processors code is made, and --llvmcpu-target-cpu says it, too; give one of them.
// OTHER: The features of this machine's processor are not those of 'haswell'.
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = arith.addf %x, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
}
