// --trace writes what ran when: the program's functions and imports, recordings, and each command with its kernel, its
// recording and the line of this file that it comes from; --profile the commands that cost most.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=two_steps --input=4xf32=1,2,3,4 --trace=%t.json --profile 2> %t.profile | FileCheck %s --check-prefix=RESULT
// RUN: %{python} %S/../../read_trace.py %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROFILE < %t.profile
// RUN: baton-run-module %t.bvm --device=local-task?workers=2 --function=two_steps --input=4xf32=1,2,3,4 --trace=%t.json | FileCheck %s --check-prefix=RESULT
// RUN: %{python} %S/../../read_trace.py %t.json | FileCheck %s
// RUN: not baton-run-module %t.bvm --device=local-sync --function=two_steps --input=4xf32=1,2,3,4 --trace=%t/none/trace.json 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RESULT: 4xf32=0.333333 0.666667 1 1.33333
// NOWHERE: none/trace.json

util.func public @two_steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %start = tensor.splat %zero : tensor<f32>
  %sum = linalg.reduce ins(%x : tensor<4xf32>) outs(%start : tensor<f32>) dimensions = [0]
      (%element: f32, %so_far: f32) {
        %more = arith.addf %element, %so_far : f32
        linalg.yield %more : f32
      }
  %three = arith.constant dense<0.3> : tensor<4xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %all = linalg.broadcast ins(%sum : tensor<f32>) outs(%empty : tensor<4xf32>) dimensions = [0]
  %part = arith.mulf %all, %three : tensor<4xf32>
  %result = arith.divf %x, %part : tensor<4xf32>
  util.return %result : tensor<4xf32>
}

// CHECK: 1 x arrow from hal.command_buffer.dispatch to two_steps_0_generic
// CHECK-NEXT: 1 x command two_steps_0_generic | command 0 dispatch | recording two_steps.0 | recorded by hal.command_buffer.dispatch | called by module.__init_part | line timeline.mlir:25
// CHECK: 1 x import hal.queue.execute | called by module.two_steps
// CHECK: 1 x queue execute "two_steps.0"
// CHECK: 1 x vm module.two_steps

// PROFILE: share total us runs us each GB/s <= GFLOP/s command
// PROFILE-NEXT: 100.0% {{[0-9.]+}} 1 {{[0-9.]+}} {{[0-9.e-]+}} {{[0-9.e-]+}} two_steps_0_generic at {{.*}}timeline.mlir:25:{{[0-9]+}}
