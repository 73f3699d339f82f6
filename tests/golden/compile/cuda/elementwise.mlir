// Element by element: whole accesses and what is left of them, small types, broadcasts, orders of dimensions.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK-NOT: .extern .func
// CHECK: .visible .entry
// CASE: add --input=1=f32
// CASE: add --input=5=f32
// CASE: add --input=100003=f32
// CASE: chain --input=7x33=f32 --input=7x33=f32
// CASE: bias --input=65x130=f32 --input=130=f32
// CASE: rows --input=65x130=f32 --input=65=f32
// CASE: transpose --input=65x130=f32
// CASE: half --input=1025=f16 --input=1025=f16
// CASE: brain --input=1025=bf16 --input=1025=bf16
// CASE: double --input=1025=f64 --input=1025=f64
// CASE: bytes --input=1025=i8 --input=1025=i8
// CASE: words --input=1025=i64 --input=1025=i64
// CASE: choose --input=1025=f32 --input=1025=f32
// CASE: mixed --input=1025=f16 --input=1025=i32
// CASE: two --input=4099=f32 --input=4099=f32
// CASE: inside --input=1003=f32 --input=i32=3
// CASE: counts --input=37
// CASE: scaled --input=1003=f32 --input=f32=0.5 --input=f64=3
// CASE: pad --input=5x7=f32
// CASE: concat --input=5x7=f32 --input=5x3=f32
// CASE: insert --input=20x30=f32 --input=4x5=f32
// CASE: gather --input=50x8=f32 --input=13=i32
// CASE: splat --input=f32=1.5
func.func @add(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @chain(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = arith.addf %a, %b : tensor<?x?xf32>
  %m = arith.mulf %s, %b : tensor<?x?xf32>
  %n = arith.negf %m : tensor<?x?xf32>
  %r = math.absf %n : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @bias(%a: tensor<65x130xf32>, %b: tensor<130xf32>) -> tensor<65x130xf32> {
  %e = tensor.empty() : tensor<65x130xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<65x130xf32>, tensor<130xf32>) outs(%e : tensor<65x130xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<65x130xf32>
  return %r : tensor<65x130xf32>
}
func.func @rows(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?xf32>) outs(%a : tensor<?x?xf32>) {
    ^bb0(%y: f32, %x: f32):
      %s = arith.mulf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @transpose(%a: tensor<65x130xf32>) -> tensor<130x65xf32> {
  %e = tensor.empty() : tensor<130x65xf32>
  %r = linalg.transpose ins(%a : tensor<65x130xf32>) outs(%e : tensor<130x65xf32>) permutation = [1, 0]
  return %r : tensor<130x65xf32>
}
func.func @half(%a: tensor<?xf16>, %b: tensor<?xf16>) -> tensor<?xf16> {
  %s = arith.mulf %a, %b : tensor<?xf16>
  %r = arith.addf %s, %b : tensor<?xf16>
  return %r : tensor<?xf16>
}
func.func @brain(%a: tensor<?xbf16>, %b: tensor<?xbf16>) -> tensor<?xbf16> {
  %s = arith.mulf %a, %b : tensor<?xbf16>
  %r = arith.addf %s, %b : tensor<?xbf16>
  return %r : tensor<?xbf16>
}
func.func @double(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %s = arith.divf %a, %b : tensor<?xf64>
  return %s : tensor<?xf64>
}
func.func @bytes(%a: tensor<?xi8>, %b: tensor<?xi8>) -> tensor<?xi8> {
  %s = arith.muli %a, %b : tensor<?xi8>
  %r = arith.maxsi %s, %b : tensor<?xi8>
  return %r : tensor<?xi8>
}
func.func @words(%a: tensor<?xi64>, %b: tensor<?xi64>) -> tensor<?xi64> {
  %s = arith.muli %a, %b : tensor<?xi64>
  %r = arith.xori %s, %b : tensor<?xi64>
  return %r : tensor<?xi64>
}
func.func @choose(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xi1>, tensor<?xf32>) {
  %c = arith.cmpf olt, %a, %b : tensor<?xf32>
  %r = arith.select %c, %a, %b : tensor<?xi1>, tensor<?xf32>
  return %c, %r : tensor<?xi1>, tensor<?xf32>
}
func.func @mixed(%a: tensor<?xf16>, %b: tensor<?xi32>) -> tensor<?xf64> {
  %x = arith.extf %a : tensor<?xf16> to tensor<?xf64>
  %y = arith.sitofp %b : tensor<?xi32> to tensor<?xf64>
  %r = arith.subf %x, %y : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @two(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s = arith.addf %a, %b : tensor<?xf32>
  %r = arith.mulf %s, %a : tensor<?xf32>
  return %s, %r : tensor<?xf32>, tensor<?xf32>
}
// A part that begins where accesses of 16 bytes can't.
func.func @inside(%a: tensor<?xf32>, %n: i32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %from = arith.index_cast %n : i32 to index
  %size = tensor.dim %a, %c0 : tensor<?xf32>
  %rest = arith.subi %size, %from : index
  %part = tensor.extract_slice %a[%from] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
  %r = arith.mulf %part, %part : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @counts(%n: index) -> tensor<?x3xi32> {
  %r = tensor.generate %n {
    ^bb0(%i: index, %j: index):
      %k = arith.muli %i, %j : index
      %v = arith.index_cast %k : index to i32
      tensor.yield %v : i32
  } : tensor<?x3xi32>
  return %r : tensor<?x3xi32>
}
func.func @scaled(%a: tensor<?xf32>, %s: f32, %t: f64) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      %m = arith.mulf %x, %s : f32
      %w = arith.extf %m : f32 to f64
      %d = arith.subf %w, %t : f64
      %y = arith.truncf %d : f64 to f32
      linalg.yield %y : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @pad(%a: tensor<5x7xf32>) -> tensor<9x10xf32> {
  %v = arith.constant 9.0 : f32
  %r = tensor.pad %a low[1, 2] high[3, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %v : f32
  } : tensor<5x7xf32> to tensor<9x10xf32>
  return %r : tensor<9x10xf32>
}
func.func @concat(%a: tensor<5x7xf32>, %b: tensor<5x3xf32>) -> tensor<5x10xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<5x7xf32>, tensor<5x3xf32>) -> tensor<5x10xf32>
  return %r : tensor<5x10xf32>
}
func.func @insert(%a: tensor<20x30xf32>, %b: tensor<4x5xf32>) -> tensor<20x30xf32> {
  %s = arith.addf %b, %b : tensor<4x5xf32>
  %r = tensor.insert_slice %s into %a[3, 7] [4, 5] [1, 1] : tensor<4x5xf32> into tensor<20x30xf32>
  return %r : tensor<20x30xf32>
}
func.func @gather(%a: tensor<50x8xf32>, %which: tensor<13xi32>) -> tensor<13x8xf32> {
  %e = tensor.empty() : tensor<13x8xf32>
  %r = linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%which : tensor<13xi32>) outs(%e : tensor<13x8xf32>) {
    ^bb0(%w: i32, %o: f32):
      %c49 = arith.constant 49 : i32
      %b = arith.andi %w, %c49 : i32
      %i = arith.index_cast %b : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %a[%i, %j] : tensor<50x8xf32>
      linalg.yield %v : f32
  } -> tensor<13x8xf32>
  return %r : tensor<13x8xf32>
}
func.func @splat(%v: f32) -> tensor<3x5xf32> {
  %r = tensor.splat %v : tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
