// tosa's branches, loops and scatters.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=chosen --input=f32=5 --input=f32=3 --input=i1=1 | FileCheck %s --check-prefix=THEN
// RUN: baton-run-module %t.bvm --device=local-sync --function=chosen --input=f32=5 --input=f32=3 --input=i1=0 | FileCheck %s --check-prefix=ELSE
// RUN: baton-run-module %t.bvm --device=local-sync --function=doubled --input=i32=2 "--input=3xf32=1 2 3" | FileCheck %s --check-prefix=LOOP
// RUN: baton-run-module %t.bvm --device=local-sync --function=scattered "--input=1x4x2xf32=0 1 2 3 4 5 6 7" "--input=1x2xi32=3 1" \
// RUN:   "--input=1x2x2xf32=10 11 12 13" | FileCheck %s --check-prefix=SCATTER

// THEN: f32=8
// ELSE: f32=2
func.func @chosen(%a: tensor<f32>, %b: tensor<f32>, %which: tensor<i1>) -> tensor<f32> {
  %r = tosa.cond_if %which -> (tensor<f32>) {
    %sum = tosa.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %sum : tensor<f32>
  } else {
    %difference = tosa.sub %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %difference : tensor<f32>
  }
  return %r : tensor<f32>
}

// From 2 to 5: four times.
// LOOP: 3xf32=16 32 48
func.func @doubled(%first: tensor<i32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %r:2 = tosa.while_loop (%i = %first, %y = %x) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
    %last = "tosa.const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %more = tosa.greater_equal %last, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %y: tensor<3xf32>):
    %one = "tosa.const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %twice = tosa.add %y, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    tosa.yield %next, %twice : tensor<i32>, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// SCATTER: 1x4x2xf32={{\[\[}}0 1][12 13][4 5][10 11]]
func.func @scattered(%values: tensor<1x4x2xf32>, %places: tensor<1x2xi32>, %new: tensor<1x2x2xf32>) -> tensor<1x4x2xf32> {
  %r = tosa.scatter %values, %places, %new : (tensor<1x4x2xf32>, tensor<1x2xi32>, tensor<1x2x2xf32>) -> tensor<1x4x2xf32>
  return %r : tensor<1x4x2xf32>
}
