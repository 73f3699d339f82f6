// TOSA 1.0, as later versions of MLIR and torch-mlir write it: sizes, permutations, shifts and zero points are operands or
// attributes there, where MLIR 19 has them the other way round.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync %t.bvm --function=sizes --input=2x3xf32=1,2,3,4,5,6 | FileCheck --check-prefix=SIZES %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=numbers --input=3xf32=1,-2,3 --input=3xi32=7,8,9 | FileCheck --check-prefix=NUMBERS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=windows --input=1x2x2x1xf32=1,2,3,4 | FileCheck --check-prefix=WINDOWS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=wide --input=4xf64=1,2.5,-729,1e300 --input=4xi64=10000000000,7,-7,9 | FileCheck --check-prefix=WIDE %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=truths --input=2x2xi1=1,0,0,0 | FileCheck --check-prefix=TRUTHS %s

// SIZES: 3x4xf32=[1 4 1 4][2 5 2 5][3 6 3 6]
// SIZES: 2x2xf32=[9 9][9 1]
func.func @sizes(%x: tensor<2x3xf32>) -> (tensor<3x4xf32>, tensor<2x2xf32>) {
  %turned = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %times = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %tiled = tosa.tile %turned, %times : (tensor<3x2xf32>, !tosa.shape<2>) -> tensor<3x4xf32>
  %begin = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %first = tosa.slice %x, %begin, %size : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x1xf32>
  %pads = tosa.const_shape {values = dense<[1, 0, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %nine = "tosa.const"() <{values = dense<9.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %padded = tosa.pad %first, %pads, %nine : (tensor<1x1xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<2x2xf32>
  return %tiled, %padded : tensor<3x4xf32>, tensor<2x2xf32>
}

// NUMBERS: 3xf32=-1 2 -2
// NUMBERS: 3xi32=25 32 41
// NUMBERS: 3xf32=1 1 1
func.func @numbers(%x: tensor<3xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>, tensor<3xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %clamped = tosa.clamp %x {min_val = -5.0 : f32, max_val = 2.0 : f32, nan_mode = "PROPAGATE"} : (tensor<3xf32>) -> tensor<3xf32>
  %negated = tosa.negate %clamped, %zero, %zero : (tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
  %squared = tosa.mul %i, %i, %shift : (tensor<3xi32>, tensor<3xi32>, tensor<1xi8>) -> tensor<3xi32>
  %none = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sine = tosa.sin %x : (tensor<3xf32>) -> tensor<3xf32>
  %cosine = tosa.cos %x : (tensor<3xf32>) -> tensor<3xf32>
  %a = tosa.mul %sine, %sine, %none : (tensor<3xf32>, tensor<3xf32>, tensor<1xi8>) -> tensor<3xf32>
  %b = tosa.mul %cosine, %cosine, %none : (tensor<3xf32>, tensor<3xf32>, tensor<1xi8>) -> tensor<3xf32>
  %one = tosa.add %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %negated, %squared, %one : tensor<3xf32>, tensor<3xi32>, tensor<3xf32>
}

// WINDOWS: 1x1x1x1xf32={{.*}}31
// WINDOWS: 1x1x1x1xf32={{.*}}2.5
func.func @windows(%x: tensor<1x2x2x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %weights = "tosa.const"() <{values = dense<3.0> : tensor<1x2x2x1xf32>}> : () -> tensor<1x2x2x1xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %weights, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %p = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %c, %p : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}

// WIDE: 4xi64=1 2 -729 9223372036854775807
// WIDE: 4xi64=10000000000 3 0 0
func.func @wide(%x: tensor<4xf64>, %i: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %cast = tosa.cast %x : (tensor<4xf64>) -> tensor<4xi64>
  %quotient = tosa.intdiv %i, %cast : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %cast, %quotient : tensor<4xi64>, tensor<4xi64>
}

// TRUTHS: 2x1xi1=[1][0]
// TRUTHS: 2x1xi1=[0][0]
// TRUTHS: 2x2xi1=[1 0][1 0]
// TRUTHS: 2x2xi1=[1 0][0 0]
func.func @truths(%x: tensor<2x2xi1>) -> (tensor<2x1xi1>, tensor<2x1xi1>, tensor<2x2xi1>, tensor<2x2xi1>) {
  %most = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x2xi1>) -> tensor<2x1xi1>
  %least = tosa.reduce_min %x {axis = 1 : i32} : (tensor<2x2xi1>) -> tensor<2x1xi1>
  %turned = tosa.reverse %x {axis = 0 : i32} : (tensor<2x2xi1>) -> tensor<2x2xi1>
  %larger = tosa.maximum %x, %turned : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  %smaller = tosa.minimum %x, %x : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  return %most, %least, %larger, %smaller : tensor<2x1xi1>, tensor<2x1xi1>, tensor<2x2xi1>, tensor<2x2xi1>
}
