// What can't be compiled for CUDA is told before the program runs.
// RUN: not baton-compile --target-device=cuda --cuda-libdevice=/nowhere/libdevice.10.bc %s 2>&1 | FileCheck --check-prefix=LIBDEVICE %s
// LIBDEVICE: error: libdevice can't be read from '/nowhere/libdevice.10.bc': No such file or directory.
// RUN: not baton-compile --target-device=cuda %S/../../../../samples/custom_dispatch/cpu/plugin/ukernel.mlir 2>&1 | FileCheck --check-prefix=DYNAMIC %s
// DYNAMIC: error: The import 'multiply_slice' asks for fields (hal.import.fields); functions of CUDA code get none.
// RUN: sed 's/"sm_75"/"sm_10"/' %S/../../../../samples/custom_dispatch/cuda/kernels/ukernel.mlir > %t.mlir
// RUN: not baton-compile %t.mlir 2>&1 | FileCheck --check-prefix=ARCH %s
// ARCH: error: There is no CUDA architecture 'sm_10' to generate code for; there are: sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a.
// RUN: not baton-compile %S/../../../../samples/custom_dispatch/cuda/kernels/ukernel.mlir 2>&1 | FileCheck --check-prefix=OBJECT %s
// OBJECT: error: The object 'functions.bc' was not found; looked for 'functions.bc'.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.exp %a : tensor<4xf32>
  return %r : tensor<4xf32>
}
