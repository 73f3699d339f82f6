// Unsigned types stay what callers see, donated arguments (tf.aliasing_output) are written in place; inside there are signless types.
// RUN: baton-compile --compile-to=input %s | FileCheck --check-prefix=INPUT %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-task %t.bvm --function=unsigned --input=4xui8=1,2,200,127 | FileCheck --check-prefix=UNSIGNED %s
// RUN: not baton-run-module --device=local-task %t.bvm --function=unsigned --input=4xi8=1 2>&1 | FileCheck --check-prefix=SIGNLESS %s
// RUN: baton-run-module --device=local-task %t.bvm --function=donated --input=2xf32=1,2 --input=2xf32=10,20 | FileCheck --check-prefix=DONATED %s
// RUN: baton-compile --dump-schedule %s | FileCheck --check-prefix=SCHEDULE %s

// INPUT: util.func public @unsigned(%{{.*}}: tensor<4xi8> {iree.abi.encoding = tensor<4xui8>}) -> (tensor<4xi8> {iree.abi.encoding = tensor<4xui8>})
// INPUT-NOT: unrealized_conversion_cast
// UNSIGNED: 4xui8=2 4 144 254
// SIGNLESS: Tensor 'input0' is a 4xi8; expected is a 4xui8.
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xui8> to tensor<4xi8>
  %1 = arith.addi %0, %0 : tensor<4xi8>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<4xi8> to tensor<4xui8>
  return %2 : tensor<4xui8>
}

// INPUT: util.func public @donated(%{{.*}}: tensor<2xf32> {iree.abi.consume}, %{{.*}}: tensor<2xf32>) -> (tensor<2xf32>, %{{.*}} {iree.abi.tied = 0 : i64})
// DONATED: 2xf32=11 22
// DONATED: 2xf32=1 20
// SCHEDULE: donated
func.func @donated(%x: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.addf %x, %y : tensor<2xf32>
  %1 = tensor.extract_slice %y[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %2 = tensor.insert_slice %1 into %x[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}
