// What is never outside is not refused: maps that divide and take rests, slices at known places and in bodies that don't run, tensors without elements.
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=quotient_and_rest --input=6xf32=1,2,3,4,5,6 | FileCheck %s --check-prefix=SIX
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=open_quotient_and_rest --input=6xf32=1,2,3,4,5,6 --input=6xf32=0 | FileCheck %s --check-prefix=SIX
// SIX: 6xf32=1 2 3 4 5 6
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=even_rests --input=3xf32=1,2,3 | FileCheck %s --check-prefix=EVEN
// EVEN: 4xf32=1 3 1 3
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=less_half --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=LESS
// LESS: 5xf32=1 2 2 3 3
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=at_a_place --input=6xf32=1,2,3,4,5,6 --input=3xi32=0,1,3 | FileCheck %s --check-prefix=PLACE
// PLACE: 3xf32=3 4 6
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=at_a_place --input=5xf32=1,2,3,4,5 --input=3xi32=0,1,3 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: OUT_OF_RANGE; linalg.generic: its body reads 6 along dimension 0 of a tensor, which has 5.
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=at_a_place --input=2xf32=1,2 --input=0xi32= | FileCheck %s --check-prefix=NEVER
// NEVER: 0xf32=
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=of_nothing --input=2xi32=0,7 | FileCheck %s --check-prefix=NOTHING
// NOTHING: 2xf32=0 0
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=chain --input=70000xf32=1 | FileCheck %s --check-prefix=CHAIN
// CHAIN: 2xf32=1 1

#quotient_and_rest = affine_map<(i) -> ((i floordiv 4) * 4 + i mod 4)>
#same = affine_map<(i) -> (i)>
func.func @quotient_and_rest(%x: tensor<6xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#quotient_and_rest, #same], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
func.func @open_quotient_and_rest(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#quotient_and_rest, #same], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @even_rests(%x: tensor<3xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ((i * 2) mod 4)>, #same], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @less_half(%x: tensor<4xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i - i floordiv 2)>, #same], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
func.func @at_a_place(%table: tensor<?xf32>, %at: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %at, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%at : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%k: i32, %o: f32):
    %part = tensor.extract_slice %table[2] [4] [1] : tensor<?xf32> to tensor<4xf32>
    %i = arith.index_cast %k : i32 to index
    %v = tensor.extract %part[%i] : tensor<4xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @of_nothing(%at: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %at, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%at : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%k: i32, %o: f32):
    %one = arith.constant 1.0 : f32
    %i = arith.index_cast %k : i32 to index
    %t = tensor.empty() : tensor<0xf32>
    %u = tensor.insert %one into %t[%i] : tensor<0xf32>
    %v = tensor.extract %u[%i] : tensor<0xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @chain(%t: tensor<70000xf32>) -> tensor<2xf32> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %x0 = arith.addi %i, %i : index
    %x1 = arith.addi %x0, %x0 : index
    %x2 = arith.addi %x1, %x1 : index
    %x3 = arith.addi %x2, %x2 : index
    %x4 = arith.addi %x3, %x3 : index
    %x5 = arith.addi %x4, %x4 : index
    %x6 = arith.addi %x5, %x5 : index
    %x7 = arith.addi %x6, %x6 : index
    %x8 = arith.addi %x7, %x7 : index
    %x9 = arith.addi %x8, %x8 : index
    %x10 = arith.addi %x9, %x9 : index
    %x11 = arith.addi %x10, %x10 : index
    %x12 = arith.addi %x11, %x11 : index
    %x13 = arith.addi %x12, %x12 : index
    %x14 = arith.addi %x13, %x13 : index
    %x15 = arith.addi %x14, %x14 : index
    %v = tensor.extract %t[%x15] : tensor<70000xf32>
    tensor.yield %v : f32
  } : tensor<2xf32>
  return %r : tensor<2xf32>
}
