// A function that cores run in place of another one may be a kernel as it stands: updates that are added one after the other,
// each to the row that it lands on, if it lands on any.
// RUN: baton-compile --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --compile-to=abi --target-backends=cuda %s | FileCheck %s --check-prefix=BLOCKS
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=main --input=3xf32=1,2,3 --input=4xi32=2,-1,2,3 --input=4xf32=10,20,40,80 | FileCheck %s --check-prefix=ADDED

// FLOW: util.func public @main
// FLOW: flow.dispatch
// FLOW-NOT: @at_once
// BLOCKS: util.call @at_once
// BLOCKS-NOT: @one_after_the_other
// ADDED: 3xf32=1 2 53
func.func @main(%old: tensor<3xf32>, %lands: tensor<4xi32>, %updates: tensor<4xf32>) -> tensor<3xf32> {
  %made = call @at_once(%old, %lands, %updates) : (tensor<3xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<3xf32>
  return %made : tensor<3xf32>
}

func.func private @at_once(%old: tensor<3xf32>, %lands: tensor<4xi32>, %updates: tensor<4xf32>) -> tensor<3xf32> attributes {baton.on_cores = @one_after_the_other} {
  return %old : tensor<3xf32>
}

func.func private @one_after_the_other(%old: tensor<3xf32>, %lands: tensor<4xi32>, %updates: tensor<4xf32>) -> tensor<3xf32> attributes {baton.one_kernel} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 4 : index
  %rows = arith.constant 3 : i32
  %memory = tensor.empty() : tensor<3xf32>
  %begin = linalg.copy ins(%old : tensor<3xf32>) outs(%memory : tensor<3xf32>) -> tensor<3xf32>
  %all = scf.for %i = %zero to %count step %one iter_args(%made = %begin) -> tensor<3xf32> {
    %land = tensor.extract %lands[%i] : tensor<4xi32>
    %is_inside = arith.cmpi ult, %land, %rows : i32
    %next = scf.if %is_inside -> tensor<3xf32> {
      %row = arith.index_castui %land : i32 to index
      %was = tensor.extract %made[%row] : tensor<3xf32>
      %new = tensor.extract %updates[%i] : tensor<4xf32>
      %sum = arith.addf %was, %new : f32
      %written = tensor.insert %sum into %made[%row] : tensor<3xf32>
      scf.yield %written : tensor<3xf32>
    } else {
      scf.yield %made : tensor<3xf32>
    }
    scf.yield %next : tensor<3xf32>
  }
  return %all : tensor<3xf32>
}

// RUN: not baton-compile %S/../inputs/one_kernel_of_unknown_size.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: is no kernel: it has several blocks, or results that are no tensors of known sizes
