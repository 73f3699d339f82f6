// One dimension becomes several of open sizes: what reads them was given a size divided by the mark for an open one.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=two --input="6xf32=1 2 3 4 5 6" --input=2 --input=3 | FileCheck --check-prefix=TWO %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=two --input="6xf32=1 2 3 4 5 6" --input=6 --input=1 | FileCheck --check-prefix=TURNED %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=two --input="6xf32=1 2 3 4 5 6" --input=-2 --input=-3 2>&1 | FileCheck --check-prefix=NEGATIVE %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=two --input="0xf32=" --input=4294967296 --input=4294967296 2>&1 | FileCheck --check-prefix=WRAPPED %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=three --input="12xf32=1 2 3 4 5 6 7 8 9 10 11 12" --input=3 --input=2 | FileCheck --check-prefix=THREE %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=there_and_back --input="2x3xf32=1 2 3 4 5 6" --input=2 --input=3 | FileCheck --check-prefix=BACK %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=there_and_back --input="2x3xf32=1 2 3 4 5 6" --input=3 --input=2 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=sums --input="6xf32=1 2 3 4 5 6" --input=2 --input=3 | FileCheck --check-prefix=SUMS %s

// TWO: 2x3xf32=[2 4 6][8 10 12]
// TURNED: 6x1xf32=[2][4][6][8][10][12]
// NEGATIVE: tensor.expand_shape: the parts of dimension 0 are 6 together, and it has 6.
// WRAPPED: tensor.expand_shape: the parts of dimension 0 are 0 together, and it has 0.
func.func @two(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %parts = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %y = arith.addf %parts, %parts : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
// THREE: 3x2x2xf32={{.*}}[-1 -2][-3 -4]{{.*}}[-9 -10][-11 -12]
func.func @three(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?x2x?xf32> {
  %parts = tensor.expand_shape %x [[0, 1, 2]] output_shape [%n, 2, %m] : tensor<?xf32> into tensor<?x2x?xf32>
  %y = arith.negf %parts : tensor<?x2x?xf32>
  return %y : tensor<?x2x?xf32>
}
// BACK: 6xf32=2 4 6 8 10 12
// OTHER: arith.addf: dimension 0 of operand 1 is 2, and of operand 0 it is 3.
func.func @there_and_back(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %parts = tensor.expand_shape %flat [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %y = arith.addf %parts, %x : tensor<?x?xf32>
  %result = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  return %result : tensor<?xf32>
}
// SUMS: 2xf32=6 15
func.func @sums(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %parts = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.reduce { arith.addf } ins(%parts : tensor<?x?xf32>) outs(%none : tensor<?xf32>) dimensions = [1]
  return %sums : tensor<?xf32>
}
