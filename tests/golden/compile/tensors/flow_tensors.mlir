// Programs that frontends build of flow's operations on one tensor at a time, and what they say about integers.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=parts "--input=3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12" --input=1 | FileCheck %s --check-prefix=PARTS
// RUN: baton-run-module %t.bvm --device=local-sync --function=open_parts "--input=3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12" --input=1 --input=2 | FileCheck %s --check-prefix=OPEN
// RUN: not baton-run-module %t.bvm --device=local-sync --function=open_parts "--input=3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12" --input=2 --input=2 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: baton-run-module %t.bvm --device=local-sync --function=elements "--input=2x2xi32=1 2 3 4" --input=1 --input=9 | FileCheck %s --check-prefix=ELEMENTS

// PARTS: 2x2xf32=[6 7][10 11]
// PARTS: 3x4xf32=[6 7 3 4][10 11 7 8][9 10 11 12]
// PARTS: 3x4xf32=[1 2 3 4][5 6 7 8][9 10 11 12]
func.func @parts(%x: tensor<3x4xf32>, %at: index) -> (tensor<2x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %part = flow.tensor.slice %x[%at, %at for %two, %two] : tensor<3x4xf32> -> tensor<2x2xf32>
  %updated = flow.tensor.update %part, %x[%zero, %zero] : tensor<2x2xf32> -> %x as tensor<3x4xf32>
  %same = flow.tensor.clone %x : tensor<3x4xf32>
  return %part, %updated, %same : tensor<2x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// OPEN: 2x2xf32=[5 6][9 10]
// OPEN: 3x4xf32=[1 2 5 6][5 6 9 10][9 10 11 12]
// BEYOND: OUT_OF_RANGE
func.func @open_parts(%x: tensor<?x4xf32>, %at: index, %count: index) -> (tensor<?x2xf32>, tensor<?x4xf32>) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  %known:2 = util.assume.int %count<umin = 1, umax = 8, udiv = 1>, %at[<umin = 0, umax = 1>, <umin = 2>] : index, index
  %part = flow.tensor.slice %x[%known#1, %zero for %known#0, %two] : tensor<?x4xf32>{%n} -> tensor<?x2xf32>{%known#0}
  %updated = flow.tensor.update %part, %x[%zero, %two] : tensor<?x2xf32>{%known#0} -> %x as tensor<?x4xf32>{%n}
  return %part, %updated : tensor<?x2xf32>, tensor<?x4xf32>
}

// ELEMENTS: i32=3
// ELEMENTS: 2x2xi32=[1 2][9 4]
// ELEMENTS: 1x2xi32=[9 9]
// ELEMENTS: 1x2xi32=[9 9]
// ELEMENTS: i32=9
func.func @elements(%x: tensor<2x2xi32>, %at: index, %value: i32) -> (i32, tensor<2x2xi32>, tensor<?x2xi32>, tensor<?x2xi32>, i32) {
  %zero = arith.constant 0 : index
  %element = flow.tensor.load %x[%at, %zero] : tensor<2x2xi32>
  %stored = flow.tensor.store %value, %x[%at, %zero] : tensor<2x2xi32>
  %filled = flow.tensor.splat %value : tensor<?x2xi32>{%at}
  %empty = flow.tensor.empty : tensor<?x2xi32>{%at}
  %written = flow.tensor.update %filled, %empty[%zero, %zero] : tensor<?x2xi32>{%at} -> %empty as tensor<?x2xi32>{%at}
  %alone = flow.tensor.splat %value : tensor<i32>
  %number = flow.tensor.load %alone : tensor<i32>
  return %element, %stored, %filled, %written, %number : i32, tensor<2x2xi32>, tensor<?x2xi32>, tensor<?x2xi32>, i32
}
