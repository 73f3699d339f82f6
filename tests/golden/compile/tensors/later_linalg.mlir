// What linalg and math are written with since MLIR 20: packing by linalg's names, contractions and elementwise operations with
// maps of their own, in the text of MLIR 20 and of what came later.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=packed "--input=3x3xi32=1 2 3 4 5 6 7 8 9" | FileCheck %s --check-prefix=PACKED
// RUN: baton-run-module %t.bvm --device=local-sync --function=packed_by_the_call "--input=3x3xi32=1 2 3 4 5 6 7 8 9" --input=2 --input=3 | FileCheck %s --check-prefix=CALL
// RUN: baton-run-module %t.bvm --device=local-sync --function=packed_by_the_call "--input=3x3xi32=1 2 3 4 5 6 7 8 9" --input=1 --input=4 | FileCheck %s --check-prefix=OTHER
// RUN: baton-run-module %t.bvm --device=local-sync --function=products "--input=2x3xf32=1 2 3 4 5 6" "--input=2x3xf32=1 0 1 0 2 0" "--input=2x2xi8=-1 2 3 4" | FileCheck %s --check-prefix=PRODUCTS
// RUN: baton-run-module %t.bvm --device=local-sync --function=elements "--input=2x3xf32=1 4 9 16 25 nan" "--input=3xi32=7 -7 1" "--input=3xi1=1 0 1" | FileCheck %s --check-prefix=ELEMENTS
// RUN: baton-run-module %t.bvm --device=local-sync --function=floats "--input=4xf32=1 -inf nan 1e-40" --input=0 | FileCheck %s --check-prefix=FLOATS
// RUN: baton-run-module %t.bvm --device=local-sync --function=floats_of_any_size "--input=1x4xf32=1 -inf nan 1e-40" | FileCheck %s --check-prefix=ANY
// RUN: baton-run-module %t.bvm --device=local-sync --function=memory "--input=2xf32=1 2" "--input=2xf32=3 4" | FileCheck %s --check-prefix=MEMORY

// PACKED: 2x2x2x2xi32={{\[\[\[}}1 4][2 5]]{{\[\[}}3 6][0 0]]]{{\[\[\[}}7 0][8 0]]{{\[\[}}9 0][0 0]]]
// PACKED: 3x3xi32=[1 2 3][4 5 6][7 8 9]
func.func @packed(%x: tensor<3x3xi32>) -> (tensor<2x2x2x2xi32>, tensor<3x3xi32>) {
  %zero = arith.constant 0 : i32
  %tiles = tensor.empty() : tensor<2x2x2x2xi32>
  %p = linalg.pack %x padding_value(%zero : i32) inner_dims_pos = [1, 0] inner_tiles = [2, 2] into %tiles : tensor<3x3xi32> -> tensor<2x2x2x2xi32>
  %whole = tensor.empty() : tensor<3x3xi32>
  %u = linalg.unpack %p inner_dims_pos = [1, 0] inner_tiles = [2, 2] into %whole : tensor<2x2x2x2xi32> -> tensor<3x3xi32>
  return %p, %u : tensor<2x2x2x2xi32>, tensor<3x3xi32>
}

// Tiles of %a rows and %b columns; columns of tiles first.
// CALL: 1x2x2x3xi32={{\[\[\[}}1 2 3][4 5 6]]{{\[\[}}7 8 9][-1 -1 -1]]]
// CALL: 3x3xi32=[1 2 3][4 5 6][7 8 9]
// OTHER: 1x3x1x4xi32={{\[\[\[}}1 2 3 -1]]{{\[\[}}4 5 6 -1]]{{\[\[}}7 8 9 -1]]]
// OTHER: 3x3xi32=[1 2 3][4 5 6][7 8 9]
func.func @packed_by_the_call(%x: tensor<3x3xi32>, %a: index, %b: index) -> (tensor<?x?x?x?xi32>, tensor<3x3xi32>) {
  %three = arith.constant 3 : index
  %filling = arith.constant -1 : i32
  %rows = arith.ceildivui %three, %a : index
  %columns = arith.ceildivui %three, %b : index
  %tiles = tensor.empty(%columns, %rows, %a, %b) : tensor<?x?x?x?xi32>
  %p = linalg.pack %x padding_value(%filling : i32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%a, %b] into %tiles : tensor<3x3xi32> -> tensor<?x?x?x?xi32>
  %whole = tensor.empty() : tensor<3x3xi32>
  %u = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%a, %b] into %whole : tensor<?x?x?x?xi32> -> tensor<3x3xi32>
  return %p, %u : tensor<?x?x?x?xi32>, tensor<3x3xi32>
}

// x times y turned, twice, and (x times y turned) turned; integers of a byte without and with their sign; a batch that is added up.
// PRODUCTS: 2x2xf32=[4 4][10 10]
// PRODUCTS: 2x2xf32=[4 10][4 10]
// PRODUCTS: 2x2xi32=[7 6][9 22]
// PRODUCTS: 2x2xi32=[65031 518][777 22]
// PRODUCTS: 2x2xf32=[8 8][20 20]
func.func @products(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<2x2xi8>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xf32>) {
  %nothing = arith.constant dense<0.0> : tensor<2x2xf32>
  %none = arith.constant dense<0> : tensor<2x2xi32>
  %a = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%nothing : tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, m)>]
      ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%nothing : tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%i, %i : tensor<2x2xi8>, tensor<2x2xi8>) outs(%none : tensor<2x2xi32>) -> tensor<2x2xi32>
  %d = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {cast = #linalg.type_fn<cast_unsigned>}
      ins(%i, %i : tensor<2x2xi8>, tensor<2x2xi8>) outs(%none : tensor<2x2xi32>) -> tensor<2x2xi32>
  %twice = tensor.concat dim(0) %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %batch = tensor.expand_shape %twice [[0, 1], [2]] output_shape [2, 2, 3] : tensor<4x3xf32> into tensor<2x2x3xf32>
  %e = linalg.batch_reduce_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (m, n)>]
      ins(%batch, %y : tensor<2x2x3xf32>, tensor<2x3xf32>) outs(%nothing : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a, %b, %c, %d, %e : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xf32>
}

// ELEMENTS: 2x3xf32=[1 2 3][4 5 NAN]
// ELEMENTS: 3x2xf32=[0 15][2 23][6 NAN]
// ELEMENTS: 3xi32=7 7 1
// ELEMENTS: 3xi32=-7 -7 -1
// ELEMENTS: 3xi32=7 14 1
// ELEMENTS: 2x3xi1=[0 0 0][0 0 1]
func.func @elements(%x: tensor<2x3xf32>, %i: tensor<3xi32>, %which: tensor<3xi1>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<2x3xi1>) {
  %root = linalg.elementwise <sqrt> ins(%x : tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  %turned = tensor.empty() : tensor<3x2xf32>
  %one_to_three = tensor.extract_slice %root[0, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %difference = linalg.elementwise kind=#linalg.elementwise_kind<sub>
      indexing_maps = [affine_map<(a, b) -> (b, a)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>]
      ins(%x, %one_to_three : tensor<2x3xf32>, tensor<3xf32>) outs(%turned : tensor<3x2xf32>) -> tensor<3x2xf32>
  %none = arith.constant dense<0> : tensor<3xi32>
  %opposite = linalg.elementwise <sub> ins(%none, %i : tensor<3xi32>, tensor<3xi32>) outs(%none : tensor<3xi32>) -> tensor<3xi32>
  %largest = linalg.elementwise <max_signed> ins(%i, %opposite : tensor<3xi32>, tensor<3xi32>) outs(%none : tensor<3xi32>) -> tensor<3xi32>
  %largest_as_words = linalg.elementwise <max_unsigned> ins(%i, %opposite : tensor<3xi32>, tensor<3xi32>) outs(%none : tensor<3xi32>) -> tensor<3xi32>
  %twice = linalg.elementwise <add> ins(%largest, %largest : tensor<3xi32>, tensor<3xi32>) outs(%none : tensor<3xi32>) -> tensor<3xi32>
  %chosen = linalg.elementwise <select> ins(%which, %i, %twice : tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) outs(%none : tensor<3xi32>) -> tensor<3xi32>
  %strange = math.isnan %x : tensor<2x3xf32>
  return %root, %difference, %largest, %largest_as_words, %chosen, %strange : tensor<2x3xf32>, tensor<3x2xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<2x3xi1>
}

// Infinite, finite, normal; sine and cosine; a map whose body takes what outs hold; the same of a number of the host.
// FLOATS: 4xi1=0 1 0 0
// FLOATS: 4xi1=1 0 0 1
// FLOATS: 4xi1=1 0 0 0
// FLOATS: 4xf32=0.841471 NAN NAN
// FLOATS: 4xf32=0.540302 NAN NAN
// FLOATS: 4xf32=2 -INF NAN
// FLOATS: i32=1
// FLOATS: f32=0
// FLOATS: f32=1
func.func @floats(%x: tensor<4xf32>, %y: f32) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, i1, f32, f32) {
  %infinite = math.isinf %x : tensor<4xf32>
  %finite = math.isfinite %x : tensor<4xf32>
  %empty = tensor.empty() : tensor<4xi1>
  %normal = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%empty : tensor<4xi1>) {
  ^bb0(%each: f32, %out: i1):
    %is = math.isnormal %each : f32
    linalg.yield %is : i1
  } -> tensor<4xi1>
  %sine, %cosine = math.sincos %x : tensor<4xf32>
  %twice = linalg.map ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) (%a: f32, %b: f32, %out: f32) {
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  }
  %number = math.isfinite %y : f32
  %s, %c = math.sincos %y : f32
  return %infinite, %finite, %normal, %sine, %cosine, %twice, %number, %s, %c : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, i1, f32, f32
}

// ANY: 1x4xi1=[0 1 0 0]
// ANY: 1x4xi1=[1 0 0 1]
// ANY: 1x4xi1=[1 0 0 0]
func.func @floats_of_any_size(%x: tensor<?x4xf32>) -> (tensor<?x4xi1>, tensor<?x4xi1>, tensor<?x4xi1>) {
  %infinite = math.isinf %x : tensor<?x4xf32>
  %finite = math.isfinite %x : tensor<?x4xf32>
  %normal = math.isnormal %x : tensor<?x4xf32>
  return %infinite, %finite, %normal : tensor<?x4xi1>, tensor<?x4xi1>, tensor<?x4xi1>
}

// A copy is a tensor of its own; what is put into another one is its elements.
// MEMORY: 2xf32=9 2
// MEMORY: 2xf32=1 2
// MEMORY: 2xf32=7 7
func.func @memory(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %first = arith.constant 0 : index
  %nine = arith.constant 9.0 : f32
  %seven = arith.constant 7.0 : f32
  %copy = bufferization.alloc_tensor() copy(%x) : tensor<2xf32>
  %changed = tensor.insert %nine into %copy[%first] : tensor<2xf32>
  %into = bufferization.materialize_in_destination %changed in %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %two = arith.constant 2 : index
  %new = bufferization.alloc_tensor(%two) : tensor<?xf32>
  %filled = linalg.fill ins(%seven : f32) outs(%new : tensor<?xf32>) -> tensor<?xf32>
  %known = tensor.cast %filled : tensor<?xf32> to tensor<2xf32>
  bufferization.dealloc_tensor %copy : tensor<2xf32>
  return %into, %x, %known : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
