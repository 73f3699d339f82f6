// What only copies is divided among blocks, too: slices, with steps or without, what is inserted, and tensors that are put together.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CASE: heads --input=2x300x12x8=bf16
// CASE: stepped --input=300x128=f32
// CASE: side_by_side --input=300x100=f32 --input=300x30=f32 --input=300x7=f32
// CASE: one_behind_another --input=300x100=f32 --input=50x100=f32
// CASE: inserted --input=2x300x12x8=f32 --input=2x300x4x8=f32
// CASE: inserted_at --input=37x19=f32 --input=5=f32 --input=32 --input=18
// CASE: inserted_at --input=37x19=f32 --input=5=f32 --input=0 --input=3
// CASE: on_a_fill --input=200x30=f32
// CASE: apart --input=2x28x29=f32
// CASE: apart_in_another --input=7x9=i16 --input=30x29=i16
// CHECK: .visible .entry heads_{{[0-9]+}}_extract_slice(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry stepped_{{[0-9]+}}_extract_slice(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry side_by_side_{{[0-9]+}}_generic(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry one_behind_another_{{[0-9]+}}_generic(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry inserted_{{[0-9]+}}_insert_slice(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry inserted_at_{{[0-9]+}}_insert_slice(
// CHECK: .visible .entry on_a_fill_{{[0-9]+}}_insert_slice(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry apart_{{[0-9]+}}_insert_slice(
// CHECK-NOT: .entry
// CHECK: %ctaid.x
// CHECK: .visible .entry apart_in_another_{{[0-9]+}}_insert_slice(
func.func @heads(%a: tensor<2x300x12x8xbf16>) -> tensor<2x300x4x8xbf16> {
  %s = tensor.extract_slice %a[0, 0, 4, 0] [2, 300, 4, 8] [1, 1, 1, 1] : tensor<2x300x12x8xbf16> to tensor<2x300x4x8xbf16>
  return %s : tensor<2x300x4x8xbf16>
}
func.func @stepped(%a: tensor<300x128xf32>) -> tensor<150x64xf32> {
  %s = tensor.extract_slice %a[1, 0] [150, 64] [2, 2] : tensor<300x128xf32> to tensor<150x64xf32>
  return %s : tensor<150x64xf32>
}
func.func @side_by_side(%a: tensor<300x100xf32>, %b: tensor<300x30xf32>, %c: tensor<300x7xf32>) -> tensor<300x137xf32> {
  %r = tensor.concat dim(1) %a, %b, %c : (tensor<300x100xf32>, tensor<300x30xf32>, tensor<300x7xf32>) -> tensor<300x137xf32>
  return %r : tensor<300x137xf32>
}
func.func @one_behind_another(%a: tensor<300x100xf32>, %b: tensor<50x100xf32>) -> tensor<350x100xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<300x100xf32>, tensor<50x100xf32>) -> tensor<350x100xf32>
  return %r : tensor<350x100xf32>
}
func.func @inserted(%a: tensor<2x300x12x8xf32>, %b: tensor<2x300x4x8xf32>) -> tensor<2x300x12x8xf32> {
  %r = tensor.insert_slice %b into %a[0, 0, 4, 0] [2, 300, 4, 8] [1, 1, 1, 1] : tensor<2x300x4x8xf32> into tensor<2x300x12x8xf32>
  return %r : tensor<2x300x12x8xf32>
}
func.func @inserted_at(%a: tensor<37x19xf32>, %b: tensor<5xf32>, %i: index, %j: index) -> tensor<37x19xf32> {
  %r = tensor.insert_slice %b into %a[%i, %j] [5, 1] [1, 1] : tensor<5xf32> into tensor<37x19xf32>
  return %r : tensor<37x19xf32>
}
func.func @on_a_fill(%b: tensor<200x30xf32>) -> tensor<640x64xf32> {
  %number = arith.constant 2.5 : f32
  %e = tensor.empty() : tensor<640x64xf32>
  %f = linalg.fill ins(%number : f32) outs(%e : tensor<640x64xf32>) -> tensor<640x64xf32>
  %r = tensor.insert_slice %b into %f[3, 5] [200, 30] [1, 1] : tensor<200x30xf32> into tensor<640x64xf32>
  return %r : tensor<640x64xf32>
}
func.func @apart(%a: tensor<2x28x29xf32>) -> tensor<2x59x90xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x59x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x59x90xf32>) -> tensor<2x59x90xf32>
  %r = tensor.insert_slice %a into %f[0, 2, 1] [2, 28, 29] [1, 2, 3] : tensor<2x28x29xf32> into tensor<2x59x90xf32>
  return %r : tensor<2x59x90xf32>
}
func.func @apart_in_another(%a: tensor<7x9xi16>, %b: tensor<30x29xi16>) -> tensor<30x29xi16> {
  %r = tensor.insert_slice %a into %b[5, 0] [7, 9] [4, 3] : tensor<7x9xi16> into tensor<30x29xi16>
  return %r : tensor<30x29xi16>
}
