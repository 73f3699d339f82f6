// A linalg.generic may take a number beside its tensors, or nothing else; rules that join, narrow, slice and reshape look at
// its inputs. Each kind of operation that such a rule begins with.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=narrowed --input=1.5 | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=scaled --input="2x3xf32=1 2 3 4 5 6" --input=2 | FileCheck --check-prefix=SCALED %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=reduced --input="2x3xf32=1 2 3 4 5 6" --input=10 | FileCheck --check-prefix=REDUCED %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=reshaped --input=3 | FileCheck --check-prefix=RESHAPED %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=behind_product --input="2x3xf32=1" --input="3x2xf32=1" --input=4 | FileCheck --check-prefix=PRODUCT %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=dynamic --input="5xf32=1 2 3 4 5" --input=0.5 | FileCheck --check-prefix=DYNAMIC %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=place --input=2.5 --input="2x2xf32=0" | FileCheck --check-prefix=PLACE %s

#id1 = affine_map<(d0) -> (d0)>
#none1 = affine_map<(d0) -> ()>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#none2 = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: 4xf16=1.5 1.5 1.5 1.5
func.func @narrowed(%x: f32) -> tensor<4xf16> {
  %empty = tensor.empty() : tensor<4xf16>
  %r = linalg.generic {indexing_maps = [#none1, #id1], iterator_types = ["parallel"]} ins(%x : f32) outs(%empty : tensor<4xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4xf16>
  return %r : tensor<4xf16>
}
// SCALED: 2x3xf32=[2 4 6][8 10 12]
func.func @scaled(%a: tensor<2x3xf32>, %x: f32) -> tensor<2x3xf32> {
  %empty = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [#id2, #none2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a, %x : tensor<2x3xf32>, f32) outs(%empty : tensor<2x3xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %t = arith.mulf %in, %by : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
// REDUCED: 2xf16=60 150
func.func @reduced(%a: tensor<2x3xf32>, %x: f32) -> tensor<2xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id2, #none2, #row], iterator_types = ["parallel", "reduction"]} ins(%a, %x : tensor<2x3xf32>, f32) outs(%fill : tensor<2xf32>) {
  ^bb0(%in: f32, %by: f32, %sum: f32):
    %t = arith.mulf %in, %by : f32
    %s = arith.addf %sum, %t : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %half = tensor.empty() : tensor<2xf16>
  %n = linalg.generic {indexing_maps = [#id1, #none1, #id1], iterator_types = ["parallel"]} ins(%r, %zero : tensor<2xf32>, f32) outs(%half : tensor<2xf16>) {
  ^bb0(%in: f32, %more: f32, %out: f16):
    %s = arith.addf %in, %more : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2xf16>
  return %n : tensor<2xf16>
}
// RESHAPED: 2x3xi8=[3 3 3][3 3 3]
func.func @reshaped(%x: i32) -> tensor<2x3xi8> {
  %empty = tensor.empty() : tensor<6xi32>
  %r = linalg.generic {indexing_maps = [#none1, #id1], iterator_types = ["parallel"]} ins(%x : i32) outs(%empty : tensor<6xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<6xi32>
  %e = tensor.expand_shape %r [[0, 1]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>
  %half = tensor.empty() : tensor<2x3xi8>
  %n = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<2x3xi32>) outs(%half : tensor<2x3xi8>) {
  ^bb0(%in: i32, %out: i8):
    %t = arith.trunci %in : i32 to i8
    linalg.yield %t : i8
  } -> tensor<2x3xi8>
  return %n : tensor<2x3xi8>
}
// PRODUCT: 2x2xf16=[7 7][7 7]
func.func @behind_product(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %x: f32) -> tensor<2x2xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  %half = tensor.empty() : tensor<2x2xf16>
  %n = linalg.generic {indexing_maps = [#none2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %p : f32, tensor<2x2xf32>) outs(%half : tensor<2x2xf16>) {
  ^bb0(%by: f32, %in: f32, %out: f16):
    %s = arith.addf %in, %by : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x2xf16>
  return %n : tensor<2x2xf16>
}
// DYNAMIC: 5xf16=1.5 2.5 3.5 4.5 5.5
func.func @dynamic(%a: tensor<?xf32>, %x: f32) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#none1, #id1, #id1], iterator_types = ["parallel"]} ins(%x, %a : f32, tensor<?xf32>) outs(%empty : tensor<?xf16>) {
  ^bb0(%by: f32, %in: f32, %out: f16):
    %s = arith.addf %in, %by : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}
// PLACE: 2x2xf32=[0 2.5][0 2.5]
func.func @place(%x: f32, %a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %empty = tensor.empty() : tensor<2x1xf16>
  %r = linalg.generic {indexing_maps = [#none2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : f32) outs(%empty : tensor<2x1xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x1xf16>
  %wide = tensor.empty() : tensor<2x1xf32>
  %w = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<2x1xf16>) outs(%wide : tensor<2x1xf32>) {
  ^bb0(%in: f16, %out: f32):
    %t = arith.extf %in : f16 to f32
    linalg.yield %t : f32
  } -> tensor<2x1xf32>
  %i = tensor.insert_slice %w into %a[0, 1] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x2xf32>
  return %i : tensor<2x2xf32>
}
