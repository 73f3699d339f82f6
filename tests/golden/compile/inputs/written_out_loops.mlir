// A triangular system as JAX writes it where no library solves it, with loops short enough that LLVM writes them out.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<() -> ()>
#map3 = affine_map<(d0, d1, d2) -> ()>
#map4 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map9 = affine_map<(d0, d1, d2) -> (d0)>

func.func @triangles(%arg1: tensor<2x4x3xf32>, %arg2: tensor<2x4x3xi32>, %arg3: tensor<2x4x4xi32>, %arg4: tensor<2x4x4xf32>) -> tensor<2x4x3xf32> {
  %arg0 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %cst = arith.constant 0.000000e+00 : f32
  %c4_i32 = arith.constant 4 : i32
  %c3_i32 = arith.constant 3 : i32
  %0 = tensor.empty() : tensor<2x4x3xf32>
  %1:2 = scf.while (%arg5 = %arg0, %arg6 = %arg1) : (i32, tensor<2x4x3xf32>) -> (i32, tensor<2x4x3xf32>) {
    %2 = arith.cmpi slt, %arg5, %c4_i32 : i32
    scf.condition(%2) %arg5, %arg6 : i32, tensor<2x4x3xf32>
  } do {
  ^bb0(%arg5: i32, %arg6: tensor<2x4x3xf32>):
    %from_elements = tensor.from_elements %arg5 : tensor<i32>
    %2 = tensor.empty() : tensor<i32>
    %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%from_elements : tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %17 = arith.subi %c3_i32, %in : i32
      linalg.yield %17 : i32
    } -> tensor<i32>
    %4 = tensor.empty() : tensor<2x4x3xi1>
    %5 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2, %3 : tensor<2x4x3xi32>, tensor<i32>) outs(%4 : tensor<2x4x3xi1>) {
    ^bb0(%in: i32, %in_0: i32, %out: i1):
      %17 = arith.cmpi eq, %in, %in_0 : i32
      linalg.yield %17 : i1
    } -> tensor<2x4x3xi1>
    %6 = tensor.empty() : tensor<2x3xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<2x3xf32>) -> tensor<2x3xf32>
    %8 = linalg.generic {indexing_maps = [#map4, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5, %arg6 : tensor<2x4x3xi1>, tensor<2x4x3xf32>) outs(%7 : tensor<2x3xf32>) {
    ^bb0(%in: i1, %in_0: f32, %out: f32):
      %17 = arith.select %in, %in_0, %cst : f32
      %18 = arith.addf %out, %17 : f32
      linalg.yield %18 : f32
    } -> tensor<2x3xf32>
    %9 = tensor.empty() : tensor<2x4xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map3, #map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg3, %3, %arg4 : tensor<2x4x4xi32>, tensor<i32>, tensor<2x4x4xf32>) outs(%10 : tensor<2x4xf32>) {
    ^bb0(%in: i32, %in_0: i32, %in_1: f32, %out: f32):
      %17 = arith.cmpi eq, %in, %in_0 : i32
      %18 = arith.select %17, %in_1, %cst : f32
      %19 = arith.addf %out, %18 : f32
      linalg.yield %19 : f32
    } -> tensor<2x4xf32>
    %12 = tensor.empty() : tensor<2xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<2xf32>) -> tensor<2xf32>
    %14 = linalg.generic {indexing_maps = [#map6, #map, #map7], iterator_types = ["parallel", "reduction"]} ins(%3, %11 : tensor<i32>, tensor<2x4xf32>) outs(%13 : tensor<2xf32>) {
    ^bb0(%in: i32, %in_0: f32, %out: f32):
      %17 = linalg.index 1 : index
      %18 = arith.index_cast %17 : index to i32
      %19 = arith.cmpi eq, %18, %in : i32
      %20 = arith.select %19, %in_0, %cst : f32
      %21 = arith.addf %out, %20 : f32
      linalg.yield %21 : f32
    } -> tensor<2xf32>
    %15 = arith.addi %arg5, %c1_i32 : i32
    %16 = linalg.generic {indexing_maps = [#map1, #map8, #map9, #map1, #map3, #map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %8, %14, %arg2, %3, %arg6, %11 : tensor<2x4x3xi1>, tensor<2x3xf32>, tensor<2xf32>, tensor<2x4x3xi32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4xf32>) outs(%0 : tensor<2x4x3xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %in_2: i32, %in_3: i32, %in_4: f32, %in_5: f32, %out: f32):
      %17 = arith.divf %in_0, %in_1 : f32
      %18 = arith.mulf %in_5, %17 : f32
      %19 = arith.subf %in_4, %18 : f32
      %20 = arith.cmpi slt, %in_2, %in_3 : i32
      %21 = arith.select %20, %19, %in_4 : f32
      %22 = arith.select %in, %17, %21 : f32
      linalg.yield %22 : f32
    } -> tensor<2x4x3xf32>
    scf.yield %15, %16 : i32, tensor<2x4x3xf32>
  }
  return %1#1 : tensor<2x4x3xf32>
}
