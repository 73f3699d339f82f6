// Sums and the like: by threads, by warps, by the whole block; of several results; of what is computed on the way.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK-NOT: .extern .func
// CHECK: .visible .entry
// CHECK: .entry first_largest
// CHECK: shfl.sync.bfly
// CHECK: .entry first_smallest
// CHECK: shfl.sync.bfly
// CASE: rows --input=67x35=f32
// CASE: rows --input=5x5003=f32
// CASE: wide_rows --input=19x2048=f32
// CASE: columns --input=300x67=f32
// CASE: few_columns --input=5003x3=f32
// CASE: tall --input=1000x67=f32
// CASE: vecmat --input=300=f32:unit --input=300x100=f32:unit
// CASE: tall_extremes --input=2x700x40=f32
// CASE: everything --input=100003=f32
// CASE: everything --input=0=f32
// CASE: largest --input=33x200=f32
// CASE: product --input=33x40=f32:unit
// CASE: whole_numbers --input=33x200=i32
// CASE: long_numbers --input=33x200=i64
// CASE: bytes --input=33x200=i8
// CASE: doubles --input=33x200=f64
// CASE: halves --input=33x200=f16
// CASE: where --input=3x1009=f32
// CASE: squares --input=33x300=f32
// CASE: first_largest --input=33x5003=f32
// CASE: first_largest --input=5x90=f32
// CASE: first_largest --input=4x300xf32=2
// CASE: first_largest --input=4x300xf32=nan
// CASE: first_largest --input=4x300xf32=-inf
// CASE: first_smallest --input=100003=f32
// CASE: first_smallest --input=7xf32=1,2,nan,-3,5,-3,nan
// CASE: largest_of_columns --input=700x67=f32
// CASE: largest_of_columns --input=700x67xf32=2
// CASE: largest_of_columns --input=700x67xf32=nan
// CASE: softmax --input=40x300=f32
// CASE: norm --input=40x256=f32
// CASE: middle --input=6x70x9=f32
// CASE: pool --input=1x16x16x4=f32
// CASE: average_and_largest --input=16x500=f32
// CASE: distances --input=20x64=f32 --input=30x64=f32
func.func @rows(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}
func.func @wide_rows(%a: tensor<19x2048xf32>) -> tensor<19xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<19xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<19x2048xf32>) outs(%f : tensor<19xf32>) dimensions = [1]
  return %r : tensor<19xf32>
}
func.func @columns(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [0]
  return %r : tensor<?xf32>
}
func.func @few_columns(%a: tensor<5003x3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<5003x3xf32>) outs(%f : tensor<3xf32>) dimensions = [0]
  return %r : tensor<3xf32>
}
func.func @everything(%a: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
func.func @largest(%a: tensor<33x200xf32>) -> tensor<33xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<33x200xf32>) outs(%f : tensor<33xf32>) dimensions = [1]
  return %r : tensor<33xf32>
}
func.func @product(%a: tensor<33x40xf32>) -> tensor<33xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %r = linalg.reduce { arith.mulf } ins(%a : tensor<33x40xf32>) outs(%f : tensor<33xf32>) dimensions = [1]
  return %r : tensor<33xf32>
}
func.func @whole_numbers(%a: tensor<33x200xi32>) -> (tensor<33xi32>, tensor<33xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<33xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<33xi32>) -> tensor<33xi32>
  %r = linalg.reduce { arith.addi } ins(%a : tensor<33x200xi32>) outs(%f : tensor<33xi32>) dimensions = [1]
  %o = linalg.reduce { arith.minsi } ins(%a : tensor<33x200xi32>) outs(%f : tensor<33xi32>) dimensions = [1]
  return %r, %o : tensor<33xi32>, tensor<33xi32>
}
func.func @long_numbers(%a: tensor<33x200xi64>) -> tensor<33xi64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<33xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<33xi64>) -> tensor<33xi64>
  %r = linalg.reduce { arith.xori } ins(%a : tensor<33x200xi64>) outs(%f : tensor<33xi64>) dimensions = [1]
  return %r : tensor<33xi64>
}
func.func @bytes(%a: tensor<33x200xi8>) -> tensor<33xi8> {
  %zero = arith.constant 0 : i8
  %e = tensor.empty() : tensor<33xi8>
  %f = linalg.fill ins(%zero : i8) outs(%e : tensor<33xi8>) -> tensor<33xi8>
  %r = linalg.reduce { arith.addi } ins(%a : tensor<33x200xi8>) outs(%f : tensor<33xi8>) dimensions = [1]
  return %r : tensor<33xi8>
}
func.func @doubles(%a: tensor<33x200xf64>) -> tensor<33xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<33xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<33xf64>) -> tensor<33xf64>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<33x200xf64>) outs(%f : tensor<33xf64>) dimensions = [1]
  return %r : tensor<33xf64>
}
func.func @halves(%a: tensor<33x200xf16>) -> tensor<33xf16> {
  %low = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<33xf16>
  %f = linalg.fill ins(%low : f16) outs(%e : tensor<33xf16>) -> tensor<33xf16>
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<33x200xf16>) outs(%f : tensor<33xf16>) dimensions = [1]
  return %r : tensor<33xf16>
}
func.func @where(%a: tensor<3x1009xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %ei = tensor.empty() : tensor<3xi64>
  %fi = linalg.fill ins(%zero : i64) outs(%ei : tensor<3xi64>) -> tensor<3xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<3x1009xf32>) outs(%f, %fi : tensor<3xf32>, tensor<3xi64>) {
    ^bb0(%x: f32, %m: f32, %at: i64):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i64
      %better = arith.cmpf ogt, %x, %m : f32
      %v = arith.select %better, %x, %m : f32
      %w = arith.select %better, %ji, %at : i64
      linalg.yield %v, %w : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi64>
}
func.func @squares(%a: tensor<33x300xf32>) -> tensor<33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %s = arith.mulf %a, %a : tensor<33x300xf32>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<33x300xf32>) outs(%f : tensor<33xf32>) dimensions = [1]
  %q = math.sqrt %r : tensor<33xf32>
  return %q : tensor<33xf32>
}
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%a: tensor<40x300xf32>) -> tensor<40x300xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<40xf32>
  %e2 = tensor.empty() : tensor<40x300xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<40x300xf32>) outs(%f1 : tensor<40xf32>) dimensions = [1]
  %x = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m : tensor<40x300xf32>, tensor<40xf32>) outs(%e2 : tensor<40x300xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.subf %v, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  } -> tensor<40x300xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<40x300xf32>) outs(%f2 : tensor<40xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<40x300xf32>, tensor<40xf32>) outs(%e2 : tensor<40x300xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %d = arith.divf %v, %t : f32
      linalg.yield %d : f32
  } -> tensor<40x300xf32>
  return %r : tensor<40x300xf32>
}
func.func @norm(%a: tensor<40x256xf32>) -> tensor<40x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<40xf32>
  %e2 = tensor.empty() : tensor<40x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %sum = linalg.reduce { arith.addf } ins(%a : tensor<40x256xf32>) outs(%f : tensor<40xf32>) dimensions = [1]
  %centred = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : tensor<40x256xf32>, tensor<40xf32>) outs(%e2 : tensor<40x256xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %n = arith.constant 256.0 : f32
      %mean = arith.divf %t, %n : f32
      %d = arith.subf %v, %mean : f32
      linalg.yield %d : f32
  } -> tensor<40x256xf32>
  %variance = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%centred : tensor<40x256xf32>) outs(%f : tensor<40xf32>) {
    ^bb0(%v: f32, %o: f32):
      %q = arith.mulf %v, %v : f32
      %s = arith.addf %q, %o : f32
      linalg.yield %s : f32
  } -> tensor<40xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %variance : tensor<40x256xf32>, tensor<40xf32>) outs(%e2 : tensor<40x256xf32>) {
    ^bb0(%v: f32, %t: f32, %o: f32):
      %n = arith.constant 256.0 : f32
      %eps = arith.constant 1.0e-5 : f32
      %mean = arith.divf %t, %n : f32
      %more = arith.addf %mean, %eps : f32
      %i = math.rsqrt %more : f32
      %d = arith.mulf %v, %i : f32
      linalg.yield %d : f32
  } -> tensor<40x256xf32>
  return %r : tensor<40x256xf32>
}
func.func @middle(%a: tensor<6x70x9xf32>) -> tensor<6x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x9xf32>) -> tensor<6x9xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<6x70x9xf32>) outs(%f : tensor<6x9xf32>) dimensions = [1]
  return %r : tensor<6x9xf32>
}
func.func @pool(%a: tensor<1x16x16x4xf32>) -> tensor<1x8x8x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x8x8x4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<1x16x16x4xf32>, tensor<2x2xf32>)
      outs(%f : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %r : tensor<1x8x8x4xf32>
}
func.func @average_and_largest(%a: tensor<16x500xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %g = linalg.fill ins(%low : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<16x500xf32>) outs(%f, %g : tensor<16xf32>, tensor<16xf32>) {
    ^bb0(%x: f32, %s: f32, %m: f32):
      %t = arith.addf %x, %s : f32
      %n = arith.maximumf %x, %m : f32
      linalg.yield %t, %n : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}
func.func @distances(%a: tensor<20x64xf32>, %b: tensor<30x64xf32>) -> tensor<20x30xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x30xf32>) -> tensor<20x30xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x64xf32>, tensor<30x64xf32>) outs(%f : tensor<20x30xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      %q = arith.mulf %d, %d : f32
      %s = arith.addf %q, %o : f32
      linalg.yield %s : f32
  } -> tensor<20x30xf32>
  return %r : tensor<20x30xf32>
}
// Columns whose steps the warps of a block share.
func.func @tall(%a: tensor<1000x67xf32>) -> tensor<67xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<67xf32>) -> tensor<67xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<1000x67xf32>) outs(%f : tensor<67xf32>) dimensions = [0]
  return %r : tensor<67xf32>
}
func.func @vecmat(%x: tensor<300xf32>, %a: tensor<300x100xf32>) -> tensor<100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %r = linalg.vecmat ins(%x, %a : tensor<300xf32>, tensor<300x100xf32>) outs(%f : tensor<100xf32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}
func.func @tall_extremes(%a: tensor<2x700x40xf32>) -> tensor<2x40xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x40xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<2x40xf32>) -> tensor<2x40xf32>
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<2x700x40xf32>) outs(%f : tensor<2x40xf32>) dimensions = [1]
  return %r : tensor<2x40xf32>
}
// Two results that belong together: rows are shared by threads, who agree on the first of equals.
func.func @first_largest(%a: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %worst = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e1 = tensor.empty(%m) : tensor<?xf32>
  %e2 = tensor.empty(%m) : tensor<?xi32>
  %f1 = linalg.fill ins(%worst : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %f2 = linalg.fill ins(%zero : i32) outs(%e2 : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<?x?xf32>) outs(%f1, %f2 : tensor<?xf32>, tensor<?xi32>) {
    ^bb0(%in: f32, %out: f32, %place: i32):
      %i = linalg.index 1 : index
      %n = arith.index_cast %i : index to i32
      %better = arith.cmpf ogt, %out, %in : f32
      %nan = arith.cmpf une, %out, %out : f32
      %keeps = arith.ori %better, %nan : i1
      %equal = arith.cmpf oeq, %out, %in : f32
      %before = arith.cmpi slt, %place, %n : i32
      %tie = arith.andi %equal, %before : i1
      %stays = arith.ori %keeps, %tie : i1
      %x = arith.select %keeps, %out, %in : f32
      %y = arith.select %stays, %place, %n : i32
      linalg.yield %x, %y : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
}
func.func @first_smallest(%a: tensor<?xf32>) -> (tensor<f32>, tensor<i32>) {
  %worst = arith.constant 0x7F800000 : f32
  %zero = arith.constant 0 : i32
  %e1 = tensor.empty() : tensor<f32>
  %e2 = tensor.empty() : tensor<i32>
  %f1 = linalg.fill ins(%worst : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %f2 = linalg.fill ins(%zero : i32) outs(%e2 : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<?xf32>) outs(%f1, %f2 : tensor<f32>, tensor<i32>) {
    ^bb0(%in: f32, %out: f32, %place: i32):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i32
      %better = arith.cmpf olt, %out, %in : f32
      %nan = arith.cmpf une, %out, %out : f32
      %keeps = arith.ori %better, %nan : i1
      %equal = arith.cmpf oeq, %out, %in : f32
      %before = arith.cmpi slt, %place, %n : i32
      %tie = arith.andi %equal, %before : i1
      %stays = arith.ori %keeps, %tie : i1
      %x = arith.select %keeps, %out, %in : f32
      %y = arith.select %stays, %place, %n : i32
      linalg.yield %x, %y : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}
func.func @largest_of_columns(%a: tensor<700x67xf32>) -> (tensor<67xf32>, tensor<67xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<67xf32>
  %f = tensor.empty() : tensor<67xi32>
  %start = linalg.fill ins(%low : f32) outs(%e : tensor<67xf32>) -> tensor<67xf32>
  %place = linalg.fill ins(%none : i32) outs(%f : tensor<67xi32>) -> tensor<67xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>, affine_map<(j, i) -> (j)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<700x67xf32>) outs(%start, %place : tensor<67xf32>, tensor<67xi32>) {
  ^bb0(%x: f32, %so_far: f32, %its_place: i32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    %larger = arith.cmpf ogt, %so_far, %x : f32
    %is_nan = arith.cmpf une, %so_far, %so_far : f32
    %keeps = arith.ori %larger, %is_nan : i1
    %equal = arith.cmpf oeq, %so_far, %x : f32
    %before = arith.cmpi slt, %its_place, %n : i32
    %tie = arith.andi %equal, %before : i1
    %keeps_place = arith.ori %keeps, %tie : i1
    %value = arith.select %keeps, %so_far, %x : f32
    %where = arith.select %keeps_place, %its_place, %n : i32
    linalg.yield %value, %where : f32, i32
  } -> (tensor<67xf32>, tensor<67xi32>)
  return %r#0, %r#1 : tensor<67xf32>, tensor<67xi32>
}
