// A product of one row reads its matrix where it lies: nothing is reordered first, and the runs of each row are long.
// RUN: baton-compile --dump-schedule %s | FileCheck %s
// RUN: baton-compile --compile-to=executable-configurations %s | FileCheck --check-prefix=TILES %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=row --input=1x3072xf32=1 --input=3072x512xf32=2 --expected_output=1x512xf32=6144
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=row_of_dots --input=1x40xf32=1 --input=600x40xf32=2 --expected_output=1x600xf32=80
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=dots --input=4x3xf32=1,2,3,4,5,6,7,8,9,10,11,12 --input=2x3xf32=1,0,0,0,1,1 --expected_output=4x2xf32=1,5,4,11,7,17,10,23

// CHECK-LABEL: recording row.0
// CHECK: {{^  dispatch}}
// CHECK-NOT: {{barrier|^  dispatch}}
// TILES: tensor.extract_slice {{.*}} [3072, 128] [1, 1]
func.func @row(%x: tensor<1x3072xf32>, %w: tensor<3072x512xf32>) -> tensor<1x512xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<1x512xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<1x512xf32>) -> tensor<1x512xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x3072xf32>, tensor<3072x512xf32>) outs(%start : tensor<1x512xf32>) -> tensor<1x512xf32>
  return %y : tensor<1x512xf32>
}

// CHECK-LABEL: recording row_of_dots.0
// CHECK: {{^  dispatch}}
// CHECK-NOT: {{barrier|^  dispatch}}
func.func @row_of_dots(%x: tensor<1x40xf32>, %w: tensor<600x40xf32>) -> tensor<1x600xf32> {
  %zero = arith.constant 0.0 : f32
  %turned = tensor.empty() : tensor<40x600xf32>
  %columns = linalg.transpose ins(%w : tensor<600x40xf32>) outs(%turned : tensor<40x600xf32>) permutation = [1, 0]
  %none = tensor.empty() : tensor<1x600xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<1x600xf32>) -> tensor<1x600xf32>
  %y = linalg.matmul ins(%x, %columns : tensor<1x40xf32>, tensor<40x600xf32>) outs(%start : tensor<1x600xf32>) -> tensor<1x600xf32>
  return %y : tensor<1x600xf32>
}

// CHECK-LABEL: recording dots.0
// CHECK: {{^  dispatch}}
// CHECK-NOT: {{barrier|^  dispatch}}
func.func @dots(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %turned = tensor.empty() : tensor<3x2xf32>
  %columns = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%turned : tensor<3x2xf32>) permutation = [1, 0]
  %none = tensor.empty() : tensor<4x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%x, %columns : tensor<4x3xf32>, tensor<3x2xf32>) outs(%start : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
