// Collectives that have no command here, or that contradict themselves, are refused where they stand.
// RUN: baton-compile %s -o %t.bvm
// RUN: sed 's/ sum, si32/ frob, si32/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=REDUCTION
// REDUCTION: has no reduction 'frob'
// RUN: sed 's/ sum, si32/ minimum, ui32/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// UNSIGNED: is minimum of ui32; ranks compare and divide signed integers and floats only
// RUN: sed 's/ sum, si32/ sum, f32/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: says that its elements are f32, and they are 'i32'
// RUN: sed 's/^  %all = flow.channel.default/  %made = hal.channel.create device(%d : !hal.device)\n&/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=LATER -DNAME=hal.channel.create
// RUN: sed 's/^  %all = flow.channel.default/  hal.command_buffer.collective<%c : !hal.command_buffer>\n&/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=LATER -DNAME=hal.command_buffer.collective
// RUN: sed 's/^  %all = flow.channel.default/  %made = stream.channel.split %x\n&/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=LATER -DNAME=stream.channel.split
// RUN: sed 's/^  %all = flow.channel.default/  %made = stream.async.collective<all_gather : f32>\n&/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=LATER -DNAME=stream.async.collective
// RUN: sed 's/^  %all = flow.channel.default/  stream.cmd.collective<all_gather : f32>\n&/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=LATER -DNAME=stream.cmd.collective
// LATER: custom op '[[NAME]]' is what IREE makes of flow's; write flow.channel.default or flow.channel.split for a channel, flow.collective.* or a command of the module 'collective'
// RUN: sed 's/^  %half = .*/&\n%more = flow.channel.split %half, %n, %n : !flow.channel -> !flow.channel/; s/%x, %half$/%x, %more/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: splits a channel that was split; only one of all ranks can be
// RUN: sed 's/(%x: tensor<4xi32>, %n: index)/(%x: tensor<4xi32>, %n: index, %given: !flow.channel)/; s/%x, %half$/%x, %given/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: uses a channel that flow.channel.default or flow.channel.split did not make in its function
// RUN: sed 's/(%x: tensor<4xi32>, %n: index)/(%x: tensor<4xi32>, %n: index, %given: !flow.channel)/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=PASSED
// PASSED: error: a channel is passed here; it has to be made in the function whose collectives use it
// RUN: sed '1i util.global private @kept : !flow.channel' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: keeps a channel; it has to be made in the function whose collectives use it
// RUN: sed 's/(tensor<4xi32>, tensor<4xi32>, !flow/(tensor<4xi32>, tensor<2xi32>, !flow/; s/%x: tensor<4x/%x: tensor<2x/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=SHAPES
// SHAPES: has a source that is a 'tensor<2xi32>' and a target that is a 'tensor<4xi32>'
// RUN: sed 's/-> %like as/-> %x as/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: a collective's result is its target, the first operand
// RUN: sed 's/%like, %x, %half/%like, %x/; s/tensor<4xi32>, !flow.channel) ->/tensor<4xi32>) ->/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=CHANNEL
// CHANNEL: takes 3 operands, and 2 are given

func.func @sum(%x: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %all = flow.channel.default : !flow.channel
  %half = flow.channel.split %all, %n, %n : !flow.channel -> !flow.channel
  %like = tensor.empty() : tensor<4xi32>
  %sum = flow.collective.all_reduce sum, si32, %like, %x, %half
      : (tensor<4xi32>, tensor<4xi32>, !flow.channel) -> %like as tensor<4xi32>
  return %sum : tensor<4xi32>
}
