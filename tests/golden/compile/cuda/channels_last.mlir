// Convolutions whose windows lie along the fastest dimension have their channels there on devices of blocks, and go as they are where others run them, too.
// The form for a GPU runs on the CPU here and gives the same; tests/gpu/compiled.py runs the cases of contractions.mlir where there is a GPU.
// RUN: baton-compile --target-device=cuda --compile-to=global-optimization %s -o %t.mlir
// RUN: FileCheck --input-file=%t.mlir %s
// RUN: baton-compile --target-device=local --target-device=cuda --compile-to=global-optimization %s | FileCheck %s --check-prefix=LOCAL
// LOCAL-NOT: linalg.transpose
// RUN: baton-compile --target-device=local %t.mlir -o %t.moved.bvm && baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.moved.bvm --function=padded --input=3 > %t.moved.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=padded --input=3 | diff - %t.moved.txt
// RUN: FileCheck --input-file=%t.moved.txt %s --check-prefix=RESULT
// RUN: baton-run-module --device=local-sync --module=%t.moved.bvm --function=strided --input=3 > %t.moved.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=strided --input=3 | diff - %t.moved.txt
// RUN: FileCheck --input-file=%t.moved.txt %s --check-prefix=RESULT
// RUN: baton-run-module --device=local-sync --module=%t.moved.bvm --function=dilated --input=3 > %t.moved.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=dilated --input=3 | diff - %t.moved.txt
// RUN: FileCheck --input-file=%t.moved.txt %s --check-prefix=RESULT
// RUN: baton-run-module --device=local-sync --module=%t.moved.bvm --function=halves --input=3 > %t.moved.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=halves --input=3 | diff - %t.moved.txt
// RUN: FileCheck --input-file=%t.moved.txt %s --check-prefix=RESULT
// RUN: baton-run-module --device=local-sync --module=%t.moved.bvm --function=picture --input=3 > %t.moved.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=picture --input=3 | diff - %t.moved.txt
// RUN: FileCheck --input-file=%t.moved.txt %s --check-prefix=RESULT
// RUN: baton-run-module --device=local-sync --module=%t.moved.bvm --function=batches --input=3 > %t.moved.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=batches --input=3 | diff - %t.moved.txt
// RUN: FileCheck --input-file=%t.moved.txt %s --check-prefix=RESULT
// RESULT: 2x32x{{[0-9x]+}}f{{16|32}}=[

// Numbers from -5 to 5: their sums are exact in any order.
func.func private @image(%factor: i32) -> tensor<2x16x9x9xf32> {
  %empty = tensor.empty() : tensor<2x16x9x9xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%empty : tensor<2x16x9x9xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %five = arith.constant 5 : i32
    %eleven = arith.constant 11 : i32
    %nc = arith.addi %n, %c : index
    %hw = arith.muli %h, %w : index
    %sum = arith.addi %nc, %hw : index
    %small = arith.index_cast %sum : index to i32
    %many = arith.muli %small, %factor : i32
    %rest = arith.remui %many, %eleven : i32
    %number = arith.subi %rest, %five : i32
    %float = arith.sitofp %number : i32 to f32
    linalg.yield %float : f32
  } -> tensor<2x16x9x9xf32>
  return %0 : tensor<2x16x9x9xf32>
}
func.func private @weights(%factor: i32) -> tensor<32x16x3x3xf32> {
  %empty = tensor.empty() : tensor<32x16x3x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(f, c, h, w) -> (f, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%empty : tensor<32x16x3x3xf32>) {
  ^bb0(%out: f32):
    %f = linalg.index 0 : index
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %three = arith.constant 3 : i32
    %seven = arith.constant 7 : i32
    %fc = arith.muli %f, %c : index
    %hw = arith.addi %h, %w : index
    %sum = arith.addi %fc, %hw : index
    %small = arith.index_cast %sum : index to i32
    %many = arith.addi %small, %factor : i32
    %rest = arith.remui %many, %seven : i32
    %number = arith.subi %rest, %three : i32
    %float = arith.sitofp %number : i32 to f32
    linalg.yield %float : f32
  } -> tensor<32x16x3x3xf32>
  return %0 : tensor<32x16x3x3xf32>
}

// What is inside of the border is moved, the border is made around it; the bias is added where the result is moved back.
// CHECK-LABEL: util.func public @padded
// CHECK: %[[IMAGE:.*]] = linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK: tensor.pad %[[IMAGE]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK: linalg.transpose {{.*}} permutation = [2, 3, 1, 0]
// CHECK: linalg.fill {{.*}} outs({{.*}} : tensor<2x9x9x32xf32>)
// CHECK: arith.mulf
// CHECK: arith.sitofp
// CHECK: } -> tensor<2x32x9x9xf32>
// CHECK-NOT: linalg.
// CHECK: hal.tensor.export
func.func @padded(%factor: i32) -> tensor<2x32x9x9xf32> {
  %x = call @image(%factor) : (i32) -> tensor<2x16x9x9xf32>
  %x_barrier = util.optimization_barrier %x : tensor<2x16x9x9xf32>
  %w = call @weights(%factor) : (i32) -> tensor<32x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x_barrier low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<2x16x9x9xf32> to tensor<2x16x11x11xf32>
  %empty = tensor.empty() : tensor<2x32x9x9xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x32x9x9xf32>) -> tensor<2x32x9x9xf32>
  %sums = linalg.conv_2d_nchw_fchw ins(%padded, %w : tensor<2x16x11x11xf32>, tensor<32x16x3x3xf32>)
      outs(%filled : tensor<2x32x9x9xf32>) -> tensor<2x32x9x9xf32>
  %biased = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sums : tensor<2x32x9x9xf32>) outs(%empty : tensor<2x32x9x9xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %bias = arith.sitofp %factor : i32 to f32
    %0 = arith.addf %sum, %bias : f32
    linalg.yield %0 : f32
  } -> tensor<2x32x9x9xf32>
  return %biased : tensor<2x32x9x9xf32>
}

// CHECK-LABEL: util.func public @strided
// CHECK-COUNT-2: linalg.transpose
func.func @strided(%factor: i32) -> tensor<2x32x4x4xf32> {
  %x = call @image(%factor) : (i32) -> tensor<2x16x9x9xf32>
  %w = call @weights(%factor) : (i32) -> tensor<32x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x32x4x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x32x4x4xf32>) -> tensor<2x32x4x4xf32>
  %sums = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<2x16x9x9xf32>, tensor<32x16x3x3xf32>) outs(%filled : tensor<2x32x4x4xf32>) -> tensor<2x32x4x4xf32>
  return %sums : tensor<2x32x4x4xf32>
}

// What the sums begin with is moved as well.
// CHECK-LABEL: util.func public @dilated
// CHECK-COUNT-3: linalg.transpose
func.func @dilated(%factor: i32) -> tensor<2x32x5x5xf32> {
  %x = call @image(%factor) : (i32) -> tensor<2x16x9x9xf32>
  %w = call @weights(%factor) : (i32) -> tensor<32x16x3x3xf32>
  %begin = tensor.extract_slice %x[0, 0, 0, 0] [2, 1, 5, 5] [1, 1, 1, 1] : tensor<2x16x9x9xf32> to tensor<2x5x5xf32>
  %empty = tensor.empty() : tensor<2x32x5x5xf32>
  %filled = linalg.broadcast ins(%begin : tensor<2x5x5xf32>) outs(%empty : tensor<2x32x5x5xf32>) dimensions = [1]
  %sums = linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<2x16x9x9xf32>, tensor<32x16x3x3xf32>) outs(%filled : tensor<2x32x5x5xf32>) -> tensor<2x32x5x5xf32>
  return %sums : tensor<2x32x5x5xf32>
}

// CHECK-LABEL: util.func public @halves
// CHECK-COUNT-2: linalg.transpose
func.func @halves(%factor: i32) -> tensor<2x32x7x7xf16> {
  %x = call @image(%factor) : (i32) -> tensor<2x16x9x9xf32>
  %w = call @weights(%factor) : (i32) -> tensor<32x16x3x3xf32>
  %x_half = arith.truncf %x : tensor<2x16x9x9xf32> to tensor<2x16x9x9xf16>
  %w_half = arith.truncf %w : tensor<32x16x3x3xf32> to tensor<32x16x3x3xf16>
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x32x7x7xf16>
  %filled = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x32x7x7xf16>) -> tensor<2x32x7x7xf16>
  %sums = linalg.conv_2d_nchw_fchw ins(%x_half, %w_half : tensor<2x16x9x9xf16>, tensor<32x16x3x3xf16>)
      outs(%filled : tensor<2x32x7x7xf16>) -> tensor<2x32x7x7xf16>
  return %sums : tensor<2x32x7x7xf16>
}

// Three channels of halves come to be eight, of which five are zeros.
// CHECK-LABEL: util.func public @picture
// CHECK-COUNT-2: linalg.transpose
// CHECK-DAG: tensor<2x11x11x8xf16>
// CHECK-DAG: tensor<3x3x8x32xf16>
func.func @picture(%factor: i32) -> tensor<2x32x9x9xf16> {
  %x = call @image(%factor) : (i32) -> tensor<2x16x9x9xf32>
  %w = call @weights(%factor) : (i32) -> tensor<32x16x3x3xf32>
  %x_three = tensor.extract_slice %x[0, 2, 0, 0] [2, 3, 9, 9] [1, 1, 1, 1] : tensor<2x16x9x9xf32> to tensor<2x3x9x9xf32>
  %w_three = tensor.extract_slice %w[0, 5, 0, 0] [32, 3, 3, 3] [1, 1, 1, 1] : tensor<32x16x3x3xf32> to tensor<32x3x3x3xf32>
  %x_half = arith.truncf %x_three : tensor<2x3x9x9xf32> to tensor<2x3x9x9xf16>
  %w_half = arith.truncf %w_three : tensor<32x3x3x3xf32> to tensor<32x3x3x3xf16>
  %zero = arith.constant 0.0 : f16
  %edged = tensor.pad %x_half low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %w_at: index):
    tensor.yield %zero : f16
  } : tensor<2x3x9x9xf16> to tensor<2x3x11x11xf16>
  %empty = tensor.empty() : tensor<2x32x9x9xf16>
  %filled = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x32x9x9xf16>) -> tensor<2x32x9x9xf16>
  %sums = linalg.conv_2d_nchw_fchw ins(%edged, %w_half : tensor<2x3x11x11xf16>, tensor<32x3x3x3xf16>)
      outs(%filled : tensor<2x32x9x9xf16>) -> tensor<2x32x9x9xf16>
  return %sums : tensor<2x32x9x9xf16>
}

// Of any number of images.
// CHECK-LABEL: util.func public @batches
// CHECK-COUNT-2: linalg.transpose
func.func @batches(%factor: i32) -> tensor<?x32x7x7xf32> {
  %image = call @image(%factor) : (i32) -> tensor<2x16x9x9xf32>
  %count = arith.constant 2 : index
  %unknown = util.optimization_barrier %count : index
  %x = tensor.extract_slice %image[0, 0, 0, 0] [%unknown, 16, 9, 9] [1, 1, 1, 1] : tensor<2x16x9x9xf32> to tensor<?x16x9x9xf32>
  %w = call @weights(%factor) : (i32) -> tensor<32x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%unknown) : tensor<?x32x7x7xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32x7x7xf32>) -> tensor<?x32x7x7xf32>
  %sums = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x16x9x9xf32>, tensor<32x16x3x3xf32>)
      outs(%filled : tensor<?x32x7x7xf32>) -> tensor<?x32x7x7xf32>
  return %sums : tensor<?x32x7x7xf32>
}

// Too few channels for a copy to pay.
// CHECK-LABEL: util.func public @few
// CHECK-NOT: linalg.transpose
func.func @few(%x: tensor<2x3x18x18xf32>, %w: tensor<32x3x3x3xf32>) -> tensor<2x32x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x32x16x16xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xf32>
  %sums = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x3x18x18xf32>, tensor<32x3x3x3xf32>)
      outs(%filled : tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xf32>
  return %sums : tensor<2x32x16x16xf32>
}
