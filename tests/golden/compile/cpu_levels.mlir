// Code for this machine's processor alone runs here; a level that is not there is named; what code generation takes is told apart.
// RUN: baton-compile --cpu-levels=host %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=twice --input="4xf32=1 2 3 4" | FileCheck %s
// RUN: baton-compile --cpu-levels=baseline,baseline %s -o %t.baseline.bvm
// RUN: baton-run-module --device=local-sync --module=%t.baseline.bvm --function=twice --input="4xf32=1 2 3 4" | FileCheck %s
// RUN: not baton-compile --cpu-levels=baseline,mmx %s -o %t.none.bvm 2>&1 | FileCheck --check-prefix=LEVEL %s
// RUN: baton-compile --mlir-timing --cpu-levels=host %s -o %t.timed.bvm 2>&1 | FileCheck --check-prefix=TIMES %s

// CHECK: 4xf32=2 4 6 8
// LEVEL: There is no level 'mmx' of a processor.
// TIMES: Code generation, processor time of all threads:
// TIMES: ms tensors to buffers
// TIMES: ms buffers to LLVM's IR
// TIMES: ms LLVM's optimizer
// TIMES: ms machine code
// TIMES: ms linking
// TIMES: ms all of it
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.addf %a, %a : tensor<4xf32>
  return %c : tensor<4xf32>
}
