// x[i, j], as frontends write it: pairs of i and j are put together, and each is read again. Where cores compute no pairs are
// written, and what computes i and j is done with what reads them. An index outside is the nearest one. What doesn't know which
// part it reads reads what was put together.
// RUN: baton-compile --target-device=local --cpu-levels=avx2 --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --target-device=local --cpu-levels=avx2 %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=pairs --input="3x3xf32=1 2 3 4 5 6 7 8 9" --input="2x2xi32=0 1 2 -9" --input="2xi32=2 7" | FileCheck %s --check-prefix=PAIRS
// RUN: baton-run-module %t.bvm --device=local-sync --function=any --input="2xi32=5 6" --input="2xi32=7 8" --input="2xi32=1 0" | FileCheck %s --check-prefix=ANY
// RUN: baton-run-module %t.bvm --device=local-sync --function=shorter --input="3xi32=1 2 3" | FileCheck %s --check-prefix=SHORTER

#two = affine_map<(i, j) -> (i, j)>
#three = affine_map<(i, j, k) -> (i, j, k)>
// FLOW-LABEL: util.func public @pairs
// FLOW: flow.dispatch
// FLOW-NOT: flow.dispatch
// FLOW: util.return
// PAIRS: 2x2xf32=[3 6][9 3]
func.func @pairs(%x: tensor<3x3xf32>, %i: tensor<2x2xi32>, %j: tensor<2xi32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = tensor.empty() : tensor<2x2x1xi32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%i : tensor<2x2xi32>) outs(%one : tensor<2x2x1xi32>) {
  ^bb0(%v: i32, %o: i32):
    linalg.yield %v : i32
  } -> tensor<2x2x1xi32>
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j)>, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%j : tensor<2xi32>) outs(%one : tensor<2x2x1xi32>) {
  ^bb0(%v: i32, %o: i32):
    linalg.yield %v : i32
  } -> tensor<2x2x1xi32>
  %both = tensor.empty() : tensor<2x2x2xi32>
  %pairs = linalg.generic {indexing_maps = [#three], iterator_types = ["parallel", "parallel", "parallel"]} outs(%both : tensor<2x2x2xi32>) {
  ^bb0(%o: i32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %c = linalg.index 2 : index
    %is_row = arith.cmpi ult, %c, %c1 : index
    %v = scf.if %is_row -> (i32) {
      %row = tensor.extract %rows[%a, %b, %c] : tensor<2x2x1xi32>
      scf.yield %row : i32
    } else {
      %d = arith.subi %c, %c1 : index
      %column = tensor.extract %columns[%a, %b, %d] : tensor<2x2x1xi32>
      scf.yield %column : i32
    }
    linalg.yield %v : i32
  } -> tensor<2x2x2xi32>
  %e = tensor.empty() : tensor<2x2xf32>
  %r = linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x2xf32>) {
  ^bb0(%o: f32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %row = tensor.extract %pairs[%a, %b, %c0] : tensor<2x2x2xi32>
    %column = tensor.extract %pairs[%a, %b, %c1] : tensor<2x2x2xi32>
    %p = arith.index_cast %row : i32 to index
    %q = arith.index_cast %column : i32 to index
    %v = tensor.extract %x[%p, %q] : tensor<3x3xf32>
    linalg.yield %v : f32
  } -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// ANY: 2xi32=7 6
func.func @any(%a: tensor<2xi32>, %b: tensor<2xi32>, %which: tensor<2xi32>) -> tensor<2xi32> {
  %c1 = arith.constant 1 : index
  %both = tensor.empty() : tensor<2x2xi32>
  %rows = linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%both : tensor<2x2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_first = arith.cmpi ult, %i, %c1 : index
    %v = scf.if %is_first -> (i32) {
      %x = tensor.extract %a[%j] : tensor<2xi32>
      scf.yield %x : i32
    } else {
      %y = tensor.extract %b[%j] : tensor<2xi32>
      scf.yield %y : i32
    }
    linalg.yield %v : i32
  } -> tensor<2x2xi32>
  %e = tensor.empty() : tensor<2xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%which : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%w: i32, %o: i32):
    %j = linalg.index 0 : index
    %i = arith.index_cast %w : i32 to index
    %v = tensor.extract %rows[%i, %j] : tensor<2x2xi32>
    linalg.yield %v : i32
  } -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// Fewer turns than the tensor that is read has elements.
// SHORTER: 2xi32=2 4
func.func @shorter(%a: tensor<3xi32>) -> tensor<2xi32> {
  %twice = arith.addi %a, %a : tensor<3xi32>
  %e = tensor.empty() : tensor<2xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]} outs(%e : tensor<2xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 0 : index
    %v = tensor.extract %twice[%j] : tensor<3xi32>
    linalg.yield %v : i32
  } -> tensor<2xi32>
  return %r : tensor<2xi32>
}
