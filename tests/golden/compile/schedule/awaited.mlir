// Who calls without fences gets results that are there, and may do with arguments what they want: also where a command of a
// module writes them in place, or gives nothing back.
// RUN: baton-compile %s | baton-dump-module - | FileCheck %s

util.func private @app.bump(%x: tensor<4xf32>) -> %x attributes {iree.abi.streamable}
util.func private @app.store(%x: tensor<4xf32>) attributes {iree.abi.streamable}
func.func private @app.more(%i: i32) -> i32

// CHECK-LABEL: export func @in_place(
// CHECK: @hal.queue.execute
// CHECK: @hal.fence.await
// CHECK-NOT: @hal.buffer_view.create
// CHECK: return
util.func public @in_place(%x: tensor<4xf32> {iree.abi.consume, iree.abi.tied = 0 : i64}) -> tensor<4xf32> {
  %y = util.call @app.bump(%x) : (tensor<4xf32>) -> %x
  util.return %y : tensor<4xf32>
}

// CHECK-LABEL: export func @stored(
// CHECK: @hal.queue.execute
// CHECK: @hal.fence.await
// CHECK: return
util.func public @stored(%x: tensor<4xf32>) {
  util.call @app.store(%x) : (tensor<4xf32>) -> ()
  util.return
}

// Before the branch, behind which nobody knows of it.
// CHECK-LABEL: export func @stored_and_more(
// CHECK: @hal.queue.execute
// CHECK: @hal.fence.await
// CHECK: @app.more
util.func public @stored_and_more(%x: tensor<4xf32>, %n: i32) -> i32 {
  util.call @app.store(%x) : (tensor<4xf32>) -> ()
  %zero = arith.constant 0 : i32
  %some = arith.cmpi ne, %n, %zero : i32
  cf.cond_br %some, ^more, ^done(%n : i32)
^more:
  %m = util.call @app.more(%n) : (i32) -> i32
  cf.br ^done(%m : i32)
^done(%r: i32):
  util.return %r : i32
}

// Once, where a result waits for it.
// CHECK-LABEL: export func @stored_and_computed(
// CHECK: @hal.fence.await
// CHECK-NOT: @hal.fence.await
// CHECK: return
util.func public @stored_and_computed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  util.call @app.store(%y) : (tensor<4xf32>) -> ()
  util.return %y : tensor<4xf32>
}

// A fence stands for all of it: nobody waits.
// CHECK-LABEL: export func @stored_async
// CHECK-NOT: @hal.fence.await
// CHECK: return
util.func public @stored_async(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.model = "coarse-fences"} {
  %y = arith.addf %x, %x : tensor<4xf32>
  util.call @app.store(%y) : (tensor<4xf32>) -> ()
  util.return %y : tensor<4xf32>
}
