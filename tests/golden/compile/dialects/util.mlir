// Every form of the dialect `util` reads, prints, and reads back as what it was.
// RUN: baton-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: baton-opt --allow-unregistered-dialect %s > %t.1 && baton-opt --allow-unregistered-dialect %t.1 | diff %t.1 -

// CHECK: util.func private @twice(%[[V:.*]]: tensor<?xf32>) -> tensor<?xf32> {
util.func private @twice(%v: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: util.return %[[V]] : tensor<?xf32>
  util.return %v : tensor<?xf32>
}
// CHECK: util.func private @ext.poke(%arg0: i32, %arg1: !custom.thing) -> %arg1
util.func private @ext.poke(%arg0: i32, %arg1: !custom.thing) -> %arg1
// CHECK: util.func private @ext.bare(%arg0: i32 {iree.abi.name = "n"}, %arg1: tensor<4xf32>) -> (i32, tensor<4xf32> {iree.abi.dims = [0]})
util.func private @ext.bare(i32 {iree.abi.name = "n"}, tensor<4xf32>) -> (i32, tensor<4xf32> {iree.abi.dims = [0]})
// CHECK: util.func private @ext.tied(%arg0: tensor<?xf32>) -> (i32, %arg0 as tensor<4xf32>) attributes {nosideeffects}
util.func private @ext.tied(%t: tensor<?xf32>) -> (i32, %t as tensor<4xf32>) attributes {nosideeffects}

// CHECK: util.global private mutable @counter = 5 : i32
util.global private mutable @counter = 5 : i32
// CHECK: util.global public @later : !util.buffer
util.global @later : !util.buffer
// CHECK: util.initializer {
util.initializer {
  %b = util.buffer.constant : !util.buffer = "abc"
  util.global.store %b, @later : !util.buffer
  util.return
}

// CHECK: util.func public @main(%[[A:.*]]: i32, %[[T:.*]]: tensor<4xf32>, %[[L:.*]]: !util.list<?>, %{{.*}}: !util.list<i32>) -> i32
util.func @main(%a: i32, %t: tensor<4xf32>, %l: !util.list<?>, %m: !util.list<i32>) -> i32 {
  // CHECK: util.buffer.constant "name" {alignment = 16 : index, mime_type = "text/plain"} : !util.buffer = dense<[1, 2]> : tensor<2xi16>
  %b = util.buffer.constant "name" {alignment = 16 : index, mime_type = "text/plain"} : !util.buffer = dense<[1, 2]> : tensor<2xi16>
  // CHECK: %{{.*}}:2 = util.optimization_barrier %[[A]], %[[T]] : i32, tensor<4xf32>
  %y:2 = util.optimization_barrier %a, %t : i32, tensor<4xf32>
  // CHECK: util.optimization_barrier{{$}}
  util.optimization_barrier
  cf.br ^next
^next:
  // CHECK: util.unfoldable_constant dense<[7, 9]> : tensor<2xi8>
  %c = util.unfoldable_constant dense<[7, 9]> : tensor<2xi8>
  // CHECK: util.unfoldable_constant 3 : i32
  %i = util.unfoldable_constant 3 : i32
  // CHECK: util.global.load @counter : i32
  %g = util.global.load @counter : i32
  // CHECK: util.global.store %{{.*}}, @counter : i32
  util.global.store %g, @counter : i32
  // CHECK: util.assume.int %[[A]]<udiv = 2, umin = 1>, %{{.*}}[<umax = 4>, <umin = 2>] : i32, i32
  %known:2 = util.assume.int %a<umin = 1, udiv = 2>, %g[<umax = 4>, <umin = 2>] : i32, i32
  // CHECK: util.null : !custom.thing
  %n = util.null : !custom.thing
  // CHECK: util.call @ext.poke(%[[A]], %[[N:.*]]) : (i32, !custom.thing) -> %[[N]]
  %p = util.call @ext.poke(%a, %n) : (i32, !custom.thing) -> %n
  // CHECK: util.call @twice(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
  %d = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %q = util.call @twice(%d) : (tensor<?xf32>) -> tensor<?xf32>
  util.return %y#0 : i32
}
