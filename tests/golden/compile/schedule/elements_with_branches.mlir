// A choice for each element stays in its kernel, as JAX writes concatenations, rotations and pads; one around tensors is a
// branch of the program, beside it.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=joined --input=2x2xf32=1,2,3,4 --input=2x3xf32=5,6,7,8,9,10 | FileCheck %s --check-prefix=JOINED
// RUN: baton-run-module %t.bvm --device=local-sync --function=both --input=i32=1 --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=ROLLED
// RUN: baton-run-module %t.bvm --device=local-sync --function=both --input=i32=0 --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=SAME

// JOINED: 2x5xf32=[1 2 5 6 7][3 4 8 9 10]
func.func @joined(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<2x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x5xf32>) {
  ^bb0(%s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c2 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i, %j] : tensor<2x2xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %j, %c2 : index
      %y = tensor.extract %b[%i, %k] : tensor<2x3xf32>
      scf.yield %y : f32
    }
    linalg.yield %v : f32
  } -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// ROLLED: 4xf32=4 1 2 3
// SAME: 4xf32=1 2 3 4
func.func @both(%rolls: i32, %a: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %wanted = arith.cmpi ne, %rolls, %zero : i32
  %r = scf.if %wanted -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %rolled = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
    ^bb0(%s: f32):
      %i = linalg.index 0 : index
      %first = arith.cmpi eq, %i, %c0 : index
      %v = scf.if %first -> (f32) {
        %x = tensor.extract %a[%c3] : tensor<4xf32>
        scf.yield %x : f32
      } else {
        %k = arith.subi %i, %c1 : index
        %y = tensor.extract %a[%k] : tensor<4xf32>
        scf.yield %y : f32
      }
      linalg.yield %v : f32
    } -> tensor<4xf32>
    scf.yield %rolled : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
