// Programs over tensors give the right numbers, on both devices and with fences between host and device.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-compile --execution-model=async-external %s -o %t.fences.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=select --input=4xi1=1,0,1,0 --input=4xf32=1 --input=4xf32=2 | FileCheck %s --check-prefix=SELECT
// RUN: baton-run-module %t.bvm --device=local-sync --function=pad --input=2x2xi32=1,2,3,4 | FileCheck %s --check-prefix=PAD
// RUN: baton-run-module %t.bvm --device=local-sync --function=softmax --input=2x4xf32=1,2,3,4,1,1,1,1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: baton-run-module %t.fences.bvm --device=local-task --function=softmax --input=2x4xf32=1,2,3,4,1,1,1,1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: baton-run-module %t.bvm --device=local-sync --function=elems --input=5 --input=6 | FileCheck %s --check-prefix=ELEMS
// RUN: baton-run-module %t.bvm --device=local-sync --function=gen --input=4 | FileCheck %s --check-prefix=GEN
// RUN: baton-run-module %t.bvm --device=local-sync --function=insert --input=4xf32=1 --input=7 --input=2 | FileCheck %s --check-prefix=INSERT
// RUN: baton-run-module %t.bvm --device=local-sync --function=splat --input=1.5 | FileCheck %s --check-prefix=SPLAT
// RUN: baton-run-module %t.bvm --device=local-sync --function=cond --input=4xf32=3 | FileCheck %s --check-prefix=COND
// RUN: baton-run-module %t.bvm --device=local-sync --function=two --input=4xf32=3 | FileCheck %s --check-prefix=TWO
// RUN: baton-run-module %t.bvm --device=local-sync --function=empty --input=0xf32 | FileCheck %s --check-prefix=EMPTY
// RUN: baton-run-module %t.bvm --device=local-sync --function=chain --input=3xf32=1,2,3 | FileCheck %s --check-prefix=CHAIN
// RUN: baton-run-module %t.bvm --device=local-sync --function=mm --input=8x16xf32=1 --input=16x4xf32=2 | FileCheck %s --check-prefix=MM
// RUN: baton-run-module %t.fences.bvm --device=local-task --function=mm --input=8x16xf32=1 --input=16x4xf32=2 | FileCheck %s --check-prefix=MM
// RUN: baton-run-module %t.bvm --device=local-sync --function=loop --input=3 --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=LOOP
// RUN: baton-run-module %t.fences.bvm --device=local-task --function=loop --input=3 --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=LOOP
// RUN: baton-run-module %t.bvm --device=local-sync --function=slices --input=4x6xf32=1 --input=2x6xf32=2 --input=1 | FileCheck %s --check-prefix=SLICES
// RUN: baton-run-module %t.bvm --device=local-sync --function=fill --input=3 --input=2.5 | FileCheck %s --check-prefix=FILL
// RUN: baton-run-module %t.bvm --device=local-sync --function=identity --input=2x3xi8=1 | FileCheck %s --check-prefix=IDENTITY
// RUN: baton-run-module %t.bvm --device=local-sync --function=scal --input=3xf32=1,2,3 --input=2 --input=0.5 --input=1 | FileCheck %s --check-prefix=SCAL
// RUN: baton-run-module %t.bvm --device=local-sync --function=steps  | FileCheck %s --check-prefix=STEPS
// RUN: baton-run-module %t.bvm --device=local-sync --function=calls --input=3xf32=1,2,3 --input=1 | FileCheck %s --check-prefix=CALLS
// RUN: baton-run-module %t.fences.bvm --device=local-task --function=calls --input=3xf32=1,2,3 --input=1 | FileCheck %s --check-prefix=CALLS
// RUN: baton-run-module %t.bvm --device=local-sync --function=region --input=5xf32=1,2,3,4,5 | FileCheck %s --check-prefix=REGION
// RUN: baton-run-module %t.bvm --device=local-sync --function=scalar --input=f32=3 --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=SCALAR
// RUN: baton-run-module %t.bvm --device=local-sync --function=anything | FileCheck %s --check-prefix=ANYTHING
// RUN: baton-run-module %t.bvm --device=local-sync --function=checks --input=2xf32=1,2
// RUN: not baton-run-module %t.bvm --device=local-sync --function=checks --input=2xf32=1,3 2>&1 | FileCheck %s --check-prefix=CHECKS
// SCALAR: f32=39
// ANYTHING: 2xi8=
// CHECKS: Element [1] of a 2xf32 is 6; expected is 4

// SELECT: 4xf32=1 2 1 2{{$}}
// PAD: 4x3xi32=[9 9 9][1 2 9][3 4 9][9 9 9]{{$}}
// SOFTMAX: 2x4xf32=[0.0320586 0.0871443 0.236883 0.643914][0.25 0.25 0.25 0.25]{{$}}
// ELEMS: 3xi32=5 6 5{{$}}
// GEN: 4xi32=0 1 2 3{{$}}
// INSERT: 4xf32=1 1 7 1{{$}}
// SPLAT: 2x2xf32=[1.5 1.5][1.5 1.5]{{$}}
// COND: 4xf32=0 0 0 0{{$}}
// TWO: 4xf32=6 6 6 6{{$}}
// EMPTY: 0xf32={{$}}
// CHAIN: 3xf32=2.71828 1.84726 2.23173{{$}}
// MM: 14xf32=11.7473 11.7473 11.7473 138 138 138 138 138 138 138 138 138 138 138{{$}}
// LOOP: 4xf32=4 8 12 16{{$}}
// SLICES: 4x6xf32=[1 1 1 1 1 1][2 2 2 2 2 2][2 2 2 2 2 2][1 1 1 1 1 1]{{$}}
// FILL: 3x2xf32=[2.5 2.5][2.5 2.5][2.5 2.5]{{$}}
// IDENTITY: 2x3xi8=[1 1 1][1 1 1]{{$}}
// SCAL: 3xf32=2.5 4.5 6.5{{$}}
// STEPS: 2xf32=3 6{{$}}
// CALLS: 3xf32=4 16 36{{$}}
// REGION: 5xf32=1 2 3 4 5{{$}}

func.func @select(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @pad(%x: tensor<2x2xi32>) -> tensor<4x3xi32> {
  %c9 = arith.constant 9 : i32
  %p = tensor.pad %x low[1, 0] high[1, 1] { ^bb0(%i: index, %j: index): tensor.yield %c9 : i32 } : tensor<2x2xi32> to tensor<4x3xi32>
  return %p : tensor<4x3xi32>
}
func.func @softmax(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %r0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%ninf : f32) outs(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<?x4xf32>) outs(%f0 : tensor<?xf32>) dimensions = [1]
  %e0 = tensor.empty(%n) : tensor<?x4xf32>
  %mb = linalg.broadcast ins(%m : tensor<?xf32>) outs(%e0 : tensor<?x4xf32>) dimensions = [1]
  %d = arith.subf %x, %mb : tensor<?x4xf32>
  %e = math.exp %d : tensor<?x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%e : tensor<?x4xf32>) outs(%f1 : tensor<?xf32>) dimensions = [1]
  %sb = linalg.broadcast ins(%s : tensor<?xf32>) outs(%e0 : tensor<?x4xf32>) dimensions = [1]
  %q = arith.divf %e, %sb : tensor<?x4xf32>
  return %q : tensor<?x4xf32>
}
func.func @elems(%a: i32, %b: i32) -> tensor<3xi32> {
  %t = tensor.from_elements %a, %b, %a : tensor<3xi32>
  return %t : tensor<3xi32>
}
func.func @gen(%n: index) -> tensor<?xi32> {
  %t = tensor.generate %n { ^bb0(%i: index): %v = arith.index_cast %i : index to i32
    tensor.yield %v : i32 } : tensor<?xi32>
  return %t : tensor<?xi32>
}
func.func @insert(%x: tensor<4xf32>, %v: f32, %i: index) -> tensor<4xf32> {
  %t = tensor.insert %v into %x[%i] : tensor<4xf32>
  return %t : tensor<4xf32>
}
func.func @splat(%v: f32) -> tensor<2x2xf32> {
  %t = tensor.splat %v : tensor<2x2xf32>
  return %t : tensor<2x2xf32>
}
func.func @cond(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.extract %a[%c0] : tensor<4xf32>
    %p = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%p) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %b = arith.subf %a, %one : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = arith.addf %x, %x : tensor<4xf32>
  %b = arith.mulf %a, %a : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
func.func @empty(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = arith.addf %x, %x : tensor<?xf32>
  return %a : tensor<?xf32>
}
func.func @checks(%x: tensor<2xf32>) {
  %a = arith.addf %x, %x : tensor<2xf32>
  check.expect_eq_const(%a, dense<[2.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_almost_eq_const(%a, dense<[2.0, 4.00001]> : tensor<2xf32>) : tensor<2xf32>
  return
}
func.func @chain(%t: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %t, %t : tensor<?xf32>
  %1 = arith.addf %0, %t : tensor<?xf32>
  %2 = arith.subf %1, %0 : tensor<?xf32>
  %3 = math.exp %2 : tensor<?xf32>
  %4 = arith.divf %3, %0 : tensor<?xf32>
  return %4 : tensor<?xf32>
}
func.func @mm(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<14xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  %bias = linalg.broadcast ins(%c : tensor<4xf32>) outs(%e : tensor<8x4xf32>) dimensions = [0]
  %s = arith.addf %m, %bias : tensor<8x4xf32>
  %zz = arith.constant dense<0.0> : tensor<8x4xf32>
  %r = arith.maximumf %s, %zz : tensor<8x4xf32>
  %e2 = tensor.empty() : tensor<8xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  %red = linalg.reduce { arith.addf } ins(%r : tensor<8x4xf32>) outs(%f2 : tensor<8xf32>) dimensions = [1]
  %x = tensor.extract_slice %red[2] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %y = math.sqrt %x : tensor<3xf32>
  %cat = tensor.concat dim(0) %y, %x, %red : (tensor<3xf32>, tensor<3xf32>, tensor<8xf32>) -> tensor<14xf32>
  return %cat : tensor<14xf32>
}
func.func @loop(%n: index, %x: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = arith.addf %a, %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %e = tensor.extract %r[%c1] : tensor<4xf32>
  return %r, %e : tensor<4xf32>, f32
}
func.func @slices(%x: tensor<4x6xf32>, %y: tensor<2x6xf32>, %i: index) -> (tensor<4x6xf32>, tensor<2x3xf32>, tensor<24xf32>, tensor<4x6xf32>) {
  %a = tensor.insert_slice %y into %x[%i, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  %b = tensor.extract_slice %x[1, 2] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
  %c = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %d = tensor.insert_slice %b into %x[0, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
  return %a, %b, %c, %d : tensor<4x6xf32>, tensor<2x3xf32>, tensor<24xf32>, tensor<4x6xf32>
}
func.func @fill(%n: index, %v: f32) -> tensor<?x2xf32> {
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %f : tensor<?x2xf32>
}
func.func @splat_constant() -> tensor<3xf32> {
  %c = arith.constant dense<2.0> : tensor<3xf32>
  return %c : tensor<3xf32>
}
func.func @identity(%x: tensor<?x?xi8>) -> tensor<?x?xi8> { return %x : tensor<?x?xi8> }
func.func @scal(%x: tensor<?xf32>, %s: f32, %d: f64, %k: i1) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {
    ^bb0(%i: f32, %o: f32):
      %1 = arith.mulf %i, %s : f32
      %2 = arith.truncf %d : f64 to f32
      %3 = arith.addf %1, %2 : f32
      %4 = arith.select %k, %3, %1 : f32
      linalg.yield %4 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

util.global private mutable @state = dense<[1.0, 2.0]> : tensor<2xf32>
func.func @steps() -> tensor<2xf32> {
  %0 = util.global.load @state : tensor<2xf32>
  %1 = arith.addf %0, %0 : tensor<2xf32>
  util.global.store %1, @state : tensor<2xf32>
  %2 = util.global.load @state : tensor<2xf32>
  %3 = arith.addf %2, %0 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
func.func private @helper(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index) attributes {noinline} {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y, %n : tensor<?xf32>, index
}
func.func @calls(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r:2 = call @helper(%x, %n) : (tensor<?xf32>, index) -> (tensor<?xf32>, index)
  %s = arith.select %c, %r#0, %x : tensor<?xf32>
  %z = scf.if %c -> tensor<?xf32> {
    %q = arith.mulf %s, %s : tensor<?xf32>
    scf.yield %q : tensor<?xf32>
  } else {
    scf.yield %s : tensor<?xf32>
  }
  return %z : tensor<?xf32>
}
// Each workgroup writes its own element.
func.func @region(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %into = tensor.empty(%n) : tensor<?xf32>
  %r = flow.dispatch.region[%n] -> (tensor<?xf32>{%n}) {
    %id = flow.dispatch.workgroup.id[0] : index
    %piece = tensor.extract_slice %x[%id] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %all = tensor.insert_slice %piece into %into[%id] [1] [1] : tensor<1xf32> into tensor<?xf32>
    flow.return %all : tensor<?xf32>
  } count(%w: index) -> (index, index, index) {
    flow.return %w, %one, %one : index, index, index
  }
  return %r : tensor<?xf32>
}
func.func @scalar(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<f32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<4xf32>) outs(%x : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
  } -> tensor<f32>
  %r = arith.mulf %sum, %x : tensor<f32>
  return %r : tensor<f32>
}
func.func @anything() -> tensor<2xi8> {
  %0 = tensor.empty() : tensor<2xi8>
  return %0 : tensor<2xi8>
}
