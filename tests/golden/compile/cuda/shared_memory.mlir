// Kernels that are short of shared memory, of which a device of Vulkan may have 32 KiB, and that use it beside buffers:
// several products one after the other, and what is read from a padded copy or from where it lies.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CASE: step --input=3x5xf32 --input=3x6xf32
// CASE: four --input=7x3xf32 --input=3x6xf32 --input=7x3xf32 --input=3x6xf32
// CASE: either --input=1x8x8x4xf32 --input=2x2x4x4xf32 --input=3x3x8x4xf32
// CASE: padded --input=1x8x8x4xf32 --input=3x3x4x8xf32
// CASE: padded_inside --input=1x4x4x8xf32 --input=3x3x8x8xf32

#map = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

func.func @step(%x: tensor<3x5xf32>, %h: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.25> : tensor<5x6xf32>
  %u = arith.constant dense<0.5> : tensor<6x6xf32>
  %none = tensor.empty() : tensor<3x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x6xf32>) outs(%start : tensor<3x6xf32>) -> tensor<3x6xf32>
  %b = linalg.matmul ins(%h, %u : tensor<3x6xf32>, tensor<6x6xf32>) outs(%start : tensor<3x6xf32>) -> tensor<3x6xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<3x6xf32>, tensor<3x6xf32>) outs(%none : tensor<3x6xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

func.func @four(%a: tensor<7x3xf32>, %b: tensor<3x6xf32>, %c: tensor<7x3xf32>, %d: tensor<3x6xf32>) -> tensor<7x6xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<7x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<7x6xf32>) -> tensor<7x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x3xf32>, tensor<3x6xf32>) outs(%start : tensor<7x6xf32>) -> tensor<7x6xf32>
  %q = linalg.matmul ins(%c, %d : tensor<7x3xf32>, tensor<3x6xf32>) outs(%start : tensor<7x6xf32>) -> tensor<7x6xf32>
  %r = linalg.matmul ins(%a, %d : tensor<7x3xf32>, tensor<3x6xf32>) outs(%start : tensor<7x6xf32>) -> tensor<7x6xf32>
  %s = linalg.matmul ins(%c, %b : tensor<7x3xf32>, tensor<3x6xf32>) outs(%start : tensor<7x6xf32>) -> tensor<7x6xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q, %r, %s : tensor<7x6xf32>, tensor<7x6xf32>, tensor<7x6xf32>, tensor<7x6xf32>)
      outs(%none : tensor<7x6xf32>) {
  ^bb0(%i: f32, %j: f32, %k: f32, %l: f32, %out: f32):
    %t = arith.subf %i, %j : f32
    %u = arith.subf %k, %l : f32
    %v = arith.addf %t, %u : f32
    linalg.yield %v : f32
  } -> tensor<7x6xf32>
  return %y : tensor<7x6xf32>
}

func.func @padded(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<1x4x4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %padded = tensor.pad %x low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x9x9x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%padded, %k : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%start : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %z = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x4x4x8xf32>) outs(%none : tensor<1x4x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<1x4x4x8xf32>
  return %z : tensor<1x4x4x8xf32>
}

// The first channels are read from %x, the others from what was computed.
func.func @either(%x: tensor<1x8x8x4xf32>, %k: tensor<2x2x4x4xf32>, %l: tensor<3x3x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %none = tensor.empty() : tensor<1x8x8x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %padded = tensor.pad %x low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x9x9x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %k : tensor<1x9x9x4xf32>, tensor<2x2x4x4xf32>) outs(%start : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %both = tensor.empty() : tensor<1x8x8x8xf32>
  %side = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%both : tensor<1x8x8x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %n = linalg.index 3 : index
    %first = arith.cmpi ult, %n, %c4 : index
    %value = scf.if %first -> (f32) {
      %e = tensor.extract %x[%c0, %i, %j, %n] : tensor<1x8x8x4xf32>
      scf.yield %e : f32
    } else {
      %m = arith.subi %n, %c4 : index
      %e = tensor.extract %y[%c0, %i, %j, %m] : tensor<1x8x8x4xf32>
      scf.yield %e : f32
    }
    linalg.yield %value : f32
  } -> tensor<1x8x8x8xf32>
  %wide = tensor.pad %side low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x8xf32> to tensor<1x10x10x8xf32>
  %z = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%wide, %l : tensor<1x10x10x8xf32>, tensor<3x3x8x4xf32>) outs(%start : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %z : tensor<1x8x8x4xf32>
}

func.func @padded_inside(%x: tensor<1x4x4x8xf32>, %k: tensor<3x3x8x8xf32>) -> tensor<1x4x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<1x4x4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %e = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4x4x8xf32>) outs(%none : tensor<1x4x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.tanh %in : f32
    linalg.yield %e : f32
  } -> tensor<1x4x4x8xf32>
  %padded = tensor.pad %e low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x4x4x8xf32> to tensor<1x6x6x8xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %k : tensor<1x6x6x8xf32>, tensor<3x3x8x8xf32>) outs(%start : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
