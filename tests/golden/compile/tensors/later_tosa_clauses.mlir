// TOSA 1.0 as MLIR prints it since attributes are clauses: axis(0), perms([1, 0]), mode<BILINEAR>.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync %t.bvm --function=rows "--input=2x3xf32=1 -2 3 4 5 -6" | FileCheck --check-prefix=ROWS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=windows "--input=1x2x2x1xf32=1 2 3 4" | FileCheck --check-prefix=WINDOWS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=adapted "--input=1x2x2x1xf32=1 2 3 4" | FileCheck --check-prefix=ADAPTED %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=integers "--input=4xi32=7 -7 100 -1" | FileCheck --check-prefix=INTEGERS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=quantized "--input=1x2x2xi8=1 2 3 4" "--input=1x2x1xi8=5 -6" | FileCheck --check-prefix=QUANTIZED %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=chosen --input=f32=5 --input=f32=3 --input=i1=1 | FileCheck --check-prefix=THEN %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=chosen --input=f32=5 --input=f32=3 --input=i1=0 | FileCheck --check-prefix=ELSE %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=doubled --input=i32=2 "--input=3xf32=1 2 3" | FileCheck --check-prefix=LOOP %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=counted "--input=2xf32=1 2" | FileCheck --check-prefix=COUNTED %s

// ROWS: 1x3xf32=[4 5 3]
// ROWS: 2xi32=2 1
// ROWS: 3x2xf32=[4 1][5 -2][-2 3]
// ROWS: 4x3xf32=[3 -2 1][-2 5 4][1 -2 3][4 5 -2]
func.func @rows(%x: tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<2xi32>, tensor<3x2xf32>, tensor<4x3xf32>) {
  %largest = tosa.reduce_max %x axis(0) nan_mode<PROPAGATE> : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %place = tosa.argmax %x axis(1) : (tensor<2x3xf32>) -> tensor<2xi32>
  %cut = tosa.clamp %x min_val(-2.0 : f32) max_val(5.0 : f32) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %turned = tosa.transpose %cut perms([1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %mirrored = tosa.reverse %turned axis(1) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %backwards = tosa.reverse %cut axis(1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %both = tosa.concat %backwards, %cut axis(0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %largest, %place, %mirrored, %both : tensor<1x3xf32>, tensor<2xi32>, tensor<3x2xf32>, tensor<4x3xf32>
}

// WINDOWS: 1x1x1x1xf32={{.*}}31
// WINDOWS: 1x1x1x1xf32={{.*}}2.5
// WINDOWS: 1x1x1x1xf32={{.*}}4
// WINDOWS: 1x3x3x1xf32={{\[\[}}[1][1.5][2]]{{\[}}[2][2.5][3]]{{\[}}[3][3.5][4]]]
func.func @windows(%x: tensor<1x2x2x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x3x3x1xf32>) {
  %weights = tosa.const values(dense<3.0> : tensor<1x2x2x1xf32>) : () -> tensor<1x2x2x1xf32>
  %bias = tosa.const values(dense<1.0> : tensor<1xf32>) : () -> tensor<1xf32>
  %zero = tosa.const values(dense<0.0> : tensor<1xf32>) : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %weights, %bias, %zero, %zero pad([0, 0, 0, 0]) stride([1, 1]) dilation([1, 1]) acc_type(f32) local_bound(true) : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %p = tosa.avg_pool2d %x, %zero, %zero kernel([2, 2]) stride([1, 1]) pad([0, 0, 0, 0]) acc_type(f32) : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %m = tosa.max_pool2d %x kernel([2, 2]) stride([1, 1]) pad([0, 0, 0, 0]) : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  %scale = tosa.const_shape values(dense<[2, 1, 2, 1]> : tensor<4xindex>) : () -> !tosa.shape<4>
  %offset = tosa.const_shape values(dense<0> : tensor<2xindex>) : () -> !tosa.shape<2>
  %r = tosa.resize %x, %scale, %offset, %offset mode<BILINEAR> : (tensor<1x2x2x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3x3x1xf32>
  return %c, %p, %m, %r : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x3x3x1xf32>
}

// Windows whose sizes are lists of sizes.
// ADAPTED: 1x1x1x1xf32={{.*}}2.5
// ADAPTED: 1x1x1x1xf32={{.*}}4
func.func @adapted(%x: tensor<1x2x2x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %zero = tosa.const values(dense<0.0> : tensor<1xf32>) : () -> tensor<1xf32>
  %two = tosa.const_shape values(dense<2> : tensor<2xindex>) : () -> !tosa.shape<2>
  %none = tosa.const_shape values(dense<0> : tensor<4xindex>) : () -> !tosa.shape<4>
  %p = tosa.avg_pool2d_adaptive %x, %zero, %zero, %two, %two, %none acc_type(f32) : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, !tosa.shape<2>, !tosa.shape<2>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  %m = tosa.max_pool2d_adaptive %x, %two, %two, %none : (tensor<1x2x2x1xf32>, !tosa.shape<2>, !tosa.shape<2>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  return %p, %m : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}

// Words may stand in braces, too. 7 * 3 / 4 to the nearest, and -5.
// INTEGERS: 4xi32=4 -3 50 0
// INTEGERS: 4xi8=0 -10 70 -6
// INTEGERS: 4xi8=0 -10 70 -6
func.func @integers(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi8>, tensor<4xi8>) {
  %one = tosa.const values(dense<1> : tensor<4xi32>) : () -> tensor<4xi32>
  %half = tosa.arithmetic_right_shift %x, %one round(true) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %multiplier = tosa.const values(dense<3> : tensor<1xi32>) : () -> tensor<1xi32>
  %shift = tosa.const values(dense<2> : tensor<1xi8>) : () -> tensor<1xi8>
  %input = tosa.const values(dense<0> : tensor<1xi32>) : () -> tensor<1xi32>
  %output = tosa.const values(dense<-5> : tensor<1xi8>) : () -> tensor<1xi8>
  %a = tosa.rescale %x, %multiplier, %shift, %input, %output scale32(true) rounding_mode<SINGLE_ROUND> per_channel(false) input_unsigned(false) output_unsigned(false) : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
  %b = tosa.rescale %x, %multiplier, %shift, %input, %output {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
  return %half, %a, %b : tensor<4xi32>, tensor<4xi8>, tensor<4xi8>
}

// (a - 1) * (b + 2), and -(a - 1) + 3.
// QUANTIZED: 1x2x1xi32={{\[\[}}-4][2]]
// QUANTIZED: 1x2x2xi8={{\[\[}}3 2][1 0]]
func.func @quantized(%a: tensor<1x2x2xi8>, %b: tensor<1x2x1xi8>) -> (tensor<1x2x1xi32>, tensor<1x2x2xi8>) {
  %one = tosa.const values(dense<1> : tensor<1xi8>) : () -> tensor<1xi8>
  %two = tosa.const values(dense<-2> : tensor<1xi8>) : () -> tensor<1xi8>
  %three = tosa.const values(dense<3> : tensor<1xi8>) : () -> tensor<1xi8>
  %product = tosa.matmul %a, %b, %one, %two : (tensor<1x2x2xi8>, tensor<1x2x1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x1xi32>
  %negated = tosa.negate %a, %one, %three : (tensor<1x2x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2xi8>
  return %product, %negated : tensor<1x2x1xi32>, tensor<1x2x2xi8>
}

// THEN: f32=8
// THEN: f32=10
// ELSE: f32=2
// ELSE: f32=5
func.func @chosen(%a: tensor<f32>, %b: tensor<f32>, %which: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
  %r = tosa.cond_if %which (%x = %a, %y = %b) : tensor<i1> (tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = tosa.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %sum : tensor<f32>
  } else {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %difference = tosa.sub %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %difference : tensor<f32>
  }
  %s = tosa.cond_if %which : tensor<i1> -> tensor<f32> {
    %sum = tosa.add %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %sum : tensor<f32>
  } else {
    tosa.yield %a : tensor<f32>
  }
  return %r, %s : tensor<f32>, tensor<f32>
}

// LOOP: 3xf32=16 32 48
func.func @doubled(%first: tensor<i32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %r:2 = tosa.while_loop (%i = %first, %y = %x) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
    %last = tosa.const values(dense<5> : tensor<i32>) : () -> tensor<i32>
    %more = tosa.greater_equal %last, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %y: tensor<3xf32>):
    %one = tosa.const values(dense<1> : tensor<i32>) : () -> tensor<i32>
    %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %twice = tosa.add %y, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    tosa.yield %next, %twice : tensor<i32>, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// COUNTED: 2xf32=11 12
tosa.variable @total = dense<10.0> : tensor<2xf32>
func.func @counted(%x: tensor<2xf32>) -> tensor<2xf32> {
  %before = tosa.variable_read @total : tensor<2xf32>
  %sum = tosa.add %before, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tosa.variable_write @total, %sum : tensor<2xf32>
  %after = tosa.variable_read @total : tensor<2xf32>
  return %after : tensor<2xf32>
}
