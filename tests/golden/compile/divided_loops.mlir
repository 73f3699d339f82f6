// Loops whose turns keep the items of a batch apart: workgroups do all turns of a part each, and write theirs in place. A loop that
// joins items stays with one workgroup, or with the host.
// RUN: baton-compile --target-device=cuda --compile-to=flow %s | FileCheck %s
// RUN: baton-compile --target-device=local --compile-to=flow %s | FileCheck %s --check-prefix=CORES
// RUN: baton-compile --target-device=vulkan %s -o %t.bvm
// RUN: %if native %{ baton-run-module %t.bvm "--device=%vulkan" --function=far_apart --input=1024x4xf32=2 --output_max_element_count=3 | FileCheck %s --check-prefix=APART %}
// RUN: %if native %{ baton-run-module %t.bvm "--device=%vulkan" --function=turned --input=3x512xi32=1 --input=512x3xi32=2 --output_max_element_count=4 | FileCheck %s --check-prefix=TURNED %}
// RUN: %if native %{ baton-run-module %t.bvm "--device=%vulkan" --function=kept --input=1024x8xi32=7 --output_max_element_count=33 | FileCheck %s --check-prefix=KEPT %}
// CORES-NOT: baton.workgroups
#row = affine_map<(b, i) -> (b, i)>
#other = affine_map<(b, i) -> (i, b)>

// CHECK-LABEL: func.func @far_apart_loop_0
// CHECK-SAME: baton.undivided, baton.workgroups = 256 : i64
// CHECK: %[[ID:.*]] = hal.interface.workgroup.id[0] : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[ID]], %c4 : index
// CHECK: tensor.extract_slice %arg0[%[[FIRST]], 0] [4, 4] [1, 1]
// CHECK: scf.for
// APART: 1024x4xf32=[32 32 32...]
func.func @far_apart(%x: tensor<1024x4xf32>) -> tensor<1024x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  %r = scf.for %t = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<1024x4xf32>) {
    %e = tensor.empty() : tensor<1024x4xf32>
    %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<1024x4xf32>) outs(%e : tensor<1024x4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %m = arith.mulf %v, %two : f32
      linalg.yield %m : f32
    } -> tensor<1024x4xf32>
    scf.yield %n : tensor<1024x4xf32>
  }
  return %r : tensor<1024x4xf32>
}

// Items are the second dimension of one tensor and the first of the other, and bodies know which they are.
// CHECK-LABEL: func.func @turned_loop_1
// CHECK-SAME: baton.workgroups = 256 : i64
// TURNED: 3x512xi32=[6 12 18 24...]
func.func @turned(%x: tensor<3x512xi32>, %y: tensor<512x3xi32>) -> tensor<3x512xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<3x512xi32>, tensor<512x3xi32>) {
    %e = tensor.empty() : tensor<512x3xi32>
    %n = linalg.generic {indexing_maps = [#other, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<3x512xi32>, tensor<512x3xi32>) outs(%e : tensor<512x3xi32>) {
    ^bb0(%v: i32, %w: i32, %o: i32):
      %i = linalg.index 0 : index
      %k = arith.index_cast %i : index to i32
      %s = arith.addi %v, %k : i32
      linalg.yield %s : i32
    } -> tensor<512x3xi32>
    %f = tensor.empty() : tensor<3x512xi32>
    %m = linalg.generic {indexing_maps = [#other, #row], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<512x3xi32>) outs(%f : tensor<3x512xi32>) {
    ^bb0(%v: i32, %o: i32):
      %i = linalg.index 1 : index
      %k = arith.index_cast %i : index to i32
      %s = arith.addi %v, %k : i32
      %one = arith.constant 1 : i32
      %q = arith.addi %s, %one : i32
      linalg.yield %q : i32
    } -> tensor<3x512xi32>
    scf.yield %m, %n : tensor<3x512xi32>, tensor<512x3xi32>
  }
  %g = tensor.empty() : tensor<3x512xi32>
  %z = linalg.generic {indexing_maps = [#row, #other, #row], iterator_types = ["parallel", "parallel"]} ins(%r#0, %r#1 : tensor<3x512xi32>, tensor<512x3xi32>) outs(%g : tensor<3x512xi32>) {
  ^bb0(%v: i32, %w: i32, %o: i32):
    %s = arith.addi %v, %w : i32
    linalg.yield %s : i32
  } -> tensor<3x512xi32>
  return %z : tensor<3x512xi32>
}

// Each turn inserts into what the caller gave: into a copy, for the next one reads it.
// CHECK-LABEL: func.func @kept_loop_2
// CHECK-SAME: baton.workgroups = 256 : i64
// KEPT: 1024x4x8xi32={{\[\[}}7 7 7 7 7 7 7 7][7 7 7 7 7 7 7 7][7 7 7 7 7 7 7 7][14 14 14 14 14 14 14 14]]
func.func @kept(%x: tensor<1024x8xi32>) -> tensor<1024x4x8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<1024x4x8xi32>
  %all = linalg.generic {indexing_maps = [affine_map<(b, t, i) -> (b, i)>, affine_map<(b, t, i) -> (b, t, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1024x8xi32>) outs(%e : tensor<1024x4x8xi32>) {
  ^bb0(%v: i32, %o: i32):
    linalg.yield %v : i32
  } -> tensor<1024x4x8xi32>
  %r = scf.for %t = %c0 to %c4 step %c1 iter_args(%a = %all) -> (tensor<1024x4x8xi32>) {
    %m = tensor.empty() : tensor<1024x8xi32>
    %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x8xi32>) outs(%m : tensor<1024x8xi32>) {
    ^bb0(%v: i32, %o: i32):
      %s = arith.addi %v, %v : i32
      linalg.yield %s : i32
    } -> tensor<1024x8xi32>
    %w = tensor.insert_slice %n into %all[0, %t, 0] [1024, 1, 8] [1, 1, 1] : tensor<1024x8xi32> into tensor<1024x4x8xi32>
    scf.yield %w : tensor<1024x4x8xi32>
  }
  return %r : tensor<1024x4x8xi32>
}

// CHECK-LABEL: func.func @joined_loop_
// CHECK-NOT: baton.workgroups
func.func @joined(%x: tensor<1024x4xf32>) -> tensor<1024x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<1024x4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(i, b) -> (b, i)>, affine_map<(i, b) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<1024x4xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %m = arith.addf %v, %o : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    %f = tensor.empty() : tensor<1024x4xf32>
    %n = linalg.generic {indexing_maps = [#row, affine_map<(b, i) -> (i)>, #row], iterator_types = ["parallel", "parallel"]} ins(%a, %sum : tensor<1024x4xf32>, tensor<4xf32>) outs(%f : tensor<1024x4xf32>) {
    ^bb0(%v: f32, %s: f32, %o: f32):
      %m = arith.subf %v, %s : f32
      linalg.yield %m : f32
    } -> tensor<1024x4xf32>
    scf.yield %n : tensor<1024x4xf32>
  }
  return %r : tensor<1024x4xf32>
}
