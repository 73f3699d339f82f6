// An operand that is read backwards, moved or divided, and alone says how far a loop goes, in several tiles: what it gives is what a
// copy of it gives that was turned before. Seen as wrong numbers of sums from the second tile on.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-check-module --device=local-sync %t.bvm | FileCheck %s
// RUN: baton-check-module --device=local-task %t.bvm | FileCheck %s
// CHECK: [  PASSED  ] 5 tests.

func.func @sum_backwards() {
  %xe = tensor.empty() : tensor<3x65x4xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%xe : tensor<3x65x4xi32>) {
  ^bb0(%o: i32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %c7 = arith.constant 7 : index
    %v0 = arith.muli %i0, %c7 : index
    %v1 = arith.addi %v0, %i1 : index
    %v2 = arith.addi %v1, %i2 : index
    %c11 = arith.constant 11 : index
    %v = arith.remui %v2, %c11 : index
    %e = arith.index_cast %v : index to i32
    linalg.yield %e : i32
  } -> tensor<3x65x4xi32>
  %x = util.optimization_barrier %made : tensor<3x65x4xi32>
  %te = tensor.empty() : tensor<3x65x4xi32>
  %copied = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (-d0 + 2, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x65x4xi32>) outs(%te : tensor<3x65x4xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<3x65x4xi32>
  %turned = util.optimization_barrier %copied : tensor<3x65x4xi32>
  %e = tensor.empty() : tensor<3x65xi32>
  %c = arith.constant 0 : i32
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<3x65xi32>) -> tensor<3x65xi32>
  %given = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (-d0 + 2, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<3x65x4xi32>) outs(%f : tensor<3x65xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<3x65xi32>
  %wanted = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%turned : tensor<3x65x4xi32>) outs(%f : tensor<3x65xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<3x65xi32>
  check.expect_eq(%given, %wanted) : tensor<3x65xi32>
  return
}

func.func @greatest_backwards() {
  %xe = tensor.empty() : tensor<1000x66xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%xe : tensor<1000x66xf32>) {
  ^bb0(%o: f32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %c7 = arith.constant 7 : index
    %v0 = arith.muli %i0, %c7 : index
    %v1 = arith.addi %v0, %i1 : index
    %v2 = arith.addi %v1, %i1 : index
    %c11 = arith.constant 11 : index
    %v = arith.remui %v2, %c11 : index
    %w = arith.index_cast %v : index to i32
    %e = arith.sitofp %w : i32 to f32
    linalg.yield %e : f32
  } -> tensor<1000x66xf32>
  %x = util.optimization_barrier %made : tensor<1000x66xf32>
  %te = tensor.empty() : tensor<1000x66xf32>
  %copied = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (-d0 + 999, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1000x66xf32>) outs(%te : tensor<1000x66xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1000x66xf32>
  %turned = util.optimization_barrier %copied : tensor<1000x66xf32>
  %e = tensor.empty() : tensor<1000xf32>
  %c = arith.constant -8.0e6 : f32
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  %given = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (-d0 + 999, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1000x66xf32>) outs(%f : tensor<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1000xf32>
  %wanted = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%turned : tensor<1000x66xf32>) outs(%f : tensor<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1000xf32>
  check.expect_eq(%given, %wanted) : tensor<1000xf32>
  return
}

func.func @sum_of_five_dimensions() {
  %xe = tensor.empty() : tensor<7x3x2x33x5xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%xe : tensor<7x3x2x33x5xi32>) {
  ^bb0(%o: i32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %i4 = linalg.index 4 : index
    %c7 = arith.constant 7 : index
    %v0 = arith.muli %i0, %c7 : index
    %v1 = arith.addi %v0, %i1 : index
    %v2 = arith.addi %v1, %i4 : index
    %c11 = arith.constant 11 : index
    %v = arith.remui %v2, %c11 : index
    %e = arith.index_cast %v : index to i32
    linalg.yield %e : i32
  } -> tensor<7x3x2x33x5xi32>
  %x = util.optimization_barrier %made : tensor<7x3x2x33x5xi32>
  %te = tensor.empty() : tensor<7x3x2x33x5xi32>
  %copied = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (-d0 + 6, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<7x3x2x33x5xi32>) outs(%te : tensor<7x3x2x33x5xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<7x3x2x33x5xi32>
  %turned = util.optimization_barrier %copied : tensor<7x3x2x33x5xi32>
  %e = tensor.empty() : tensor<7x3x2x33xi32>
  %c = arith.constant 0 : i32
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<7x3x2x33xi32>) -> tensor<7x3x2x33xi32>
  %given = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (-d0 + 6, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<7x3x2x33x5xi32>) outs(%f : tensor<7x3x2x33xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<7x3x2x33xi32>
  %wanted = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%turned : tensor<7x3x2x33x5xi32>) outs(%f : tensor<7x3x2x33xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<7x3x2x33xi32>
  check.expect_eq(%given, %wanted) : tensor<7x3x2x33xi32>
  return
}

func.func @sum_moved() {
  %xe = tensor.empty() : tensor<300x70xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%xe : tensor<300x70xf32>) {
  ^bb0(%o: f32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %c7 = arith.constant 7 : index
    %v0 = arith.muli %i0, %c7 : index
    %v1 = arith.addi %v0, %i1 : index
    %v2 = arith.addi %v1, %i1 : index
    %c11 = arith.constant 11 : index
    %v = arith.remui %v2, %c11 : index
    %w = arith.index_cast %v : index to i32
    %e = arith.sitofp %w : i32 to f32
    linalg.yield %e : f32
  } -> tensor<300x70xf32>
  %x = util.optimization_barrier %made : tensor<300x70xf32>
  %te = tensor.empty() : tensor<299x70xf32>
  %copied = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + 1, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<300x70xf32>) outs(%te : tensor<299x70xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<299x70xf32>
  %turned = util.optimization_barrier %copied : tensor<299x70xf32>
  %e = tensor.empty() : tensor<299xf32>
  %c = arith.constant 0.0 : f32
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<299xf32>) -> tensor<299xf32>
  %given = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + 1, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<300x70xf32>) outs(%f : tensor<299xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<299xf32>
  %wanted = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%turned : tensor<299x70xf32>) outs(%f : tensor<299xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<299xf32>
  check.expect_eq(%given, %wanted) : tensor<299xf32>
  return
}

func.func @sum_of_long_rows() {
  %xe = tensor.empty() : tensor<9x2x5000xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%xe : tensor<9x2x5000xi32>) {
  ^bb0(%o: i32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %c7 = arith.constant 7 : index
    %v0 = arith.muli %i0, %c7 : index
    %v1 = arith.addi %v0, %i1 : index
    %v2 = arith.addi %v1, %i2 : index
    %c11 = arith.constant 11 : index
    %v = arith.remui %v2, %c11 : index
    %e = arith.index_cast %v : index to i32
    linalg.yield %e : i32
  } -> tensor<9x2x5000xi32>
  %x = util.optimization_barrier %made : tensor<9x2x5000xi32>
  %te = tensor.empty() : tensor<9x2x5000xi32>
  %copied = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (-d0 + 8, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<9x2x5000xi32>) outs(%te : tensor<9x2x5000xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<9x2x5000xi32>
  %turned = util.optimization_barrier %copied : tensor<9x2x5000xi32>
  %e = tensor.empty() : tensor<9x2xi32>
  %c = arith.constant 0 : i32
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<9x2xi32>) -> tensor<9x2xi32>
  %given = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (-d0 + 8, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<9x2x5000xi32>) outs(%f : tensor<9x2xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<9x2xi32>
  %wanted = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%turned : tensor<9x2x5000xi32>) outs(%f : tensor<9x2xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<9x2xi32>
  check.expect_eq(%given, %wanted) : tensor<9x2xi32>
  return
}
