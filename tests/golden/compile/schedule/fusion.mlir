// A chain of ten elementwise operations is one dispatch; what nobody uses is none.
// RUN: baton-opt --form-dispatches %s | FileCheck %s

// CHECK-LABEL: util.func public @chain
// CHECK: %[[X:.*]] = hal.tensor.import
// CHECK-NEXT: %[[R:.*]] = flow.dispatch @dispatch_groups::@chain_0_generic(%[[X]]) : (tensor<?xf32>{%[[N:.*]]}) -> tensor<?xf32>{%[[N]]}
// CHECK-NEXT: hal.tensor.export %[[R]]
util.func public @chain(%view: !hal.buffer_view) -> !hal.buffer_view {
  %n = hal.buffer_view.dim<%view : !hal.buffer_view>[0] : index
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<?xf32>{%n}
  %0 = arith.mulf %x, %x : tensor<?xf32>
  %1 = arith.addf %0, %x : tensor<?xf32>
  %2 = arith.subf %1, %0 : tensor<?xf32>
  %3 = math.exp %2 : tensor<?xf32>
  %4 = arith.divf %3, %0 : tensor<?xf32>
  %5 = arith.maximumf %4, %x : tensor<?xf32>
  %6 = arith.negf %5 : tensor<?xf32>
  %7 = math.absf %6 : tensor<?xf32>
  %8 = math.sqrt %7 : tensor<?xf32>
  %9 = arith.minimumf %8, %1 : tensor<?xf32>
  %unused = arith.mulf %9, %9 : tensor<?xf32>
  %out = hal.tensor.export %9 "output0" : tensor<?xf32>{%n} -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// A product takes the fill of its result and what follows element by element.
// CHECK-LABEL: util.func public @dense
// CHECK-COUNT-1: flow.dispatch @dispatch_groups::@dense_1_generic(
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @dense(%a_view: !hal.buffer_view, %b_view: !hal.buffer_view) -> !hal.buffer_view {
  %a = hal.tensor.import %a_view : !hal.buffer_view -> tensor<8x16xf32>
  %b = hal.tensor.import %b_view : !hal.buffer_view -> tensor<16x4xf32>
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<8x4xf32>
  %empty = tensor.empty() : tensor<8x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
  %product = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%filled : tensor<8x4xf32>) -> tensor<8x4xf32>
  %relu = arith.maximumf %product, %zeros : tensor<8x4xf32>
  %out = hal.tensor.export %relu : tensor<8x4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// A sum takes what comes before and after it element by element, and what else goes along the same rows.
// CHECK-LABEL: util.func public @norm
// CHECK: flow.dispatch @dispatch_groups::@norm_2_generic(%{{[0-9]+}})
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @norm(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x4xf32>
  %zero = arith.constant 0.0 : f32
  %squares = arith.mulf %x, %x : tensor<8x4xf32>
  %row = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<8x4xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  %norm = math.sqrt %sum : tensor<8xf32>
  %whole = tensor.empty() : tensor<8x4xf32>
  %wide = linalg.broadcast ins(%norm : tensor<8xf32>) outs(%whole : tensor<8x4xf32>) dimensions = [1]
  %result = arith.divf %x, %wide : tensor<8x4xf32>
  %out = hal.tensor.export %result : tensor<8x4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// What is read along another way is a kernel of its own, and so is what goes along rows too long to be kept.
// CHECK-LABEL: util.func public @across
// CHECK: %[[SUM:.*]] = flow.dispatch @dispatch_groups::@across_3_generic(
// CHECK-NEXT: flow.dispatch @dispatch_groups::@across_4_generic({{.*}}%[[SUM]]{{.*}})
// CHECK: util.return
util.func public @across(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  %whole = tensor.empty() : tensor<8x8xf32>
  %wide = linalg.broadcast ins(%sum : tensor<8xf32>) outs(%whole : tensor<8x8xf32>) dimensions = [0]
  %result = arith.divf %x, %wide : tensor<8x8xf32>
  %out = hal.tensor.export %result : tensor<8x8xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}
// CHECK-LABEL: util.func public @softmax
// CHECK-COUNT-6: flow.dispatch
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @softmax(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2x100000xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %row = tensor.empty() : tensor<2xf32>
  %whole = tensor.empty() : tensor<2x100000xf32>
  %start = linalg.fill ins(%low : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %top = linalg.reduce { arith.maximumf } ins(%x : tensor<2x100000xf32>) outs(%start : tensor<2xf32>) dimensions = [1]
  %tops = linalg.broadcast ins(%top : tensor<2xf32>) outs(%whole : tensor<2x100000xf32>) dimensions = [1]
  %less = arith.subf %x, %tops : tensor<2x100000xf32>
  %powers = math.exp %less : tensor<2x100000xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.reduce { arith.addf } ins(%powers : tensor<2x100000xf32>) outs(%zeros : tensor<2xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<2xf32>) outs(%whole : tensor<2x100000xf32>) dimensions = [1]
  %result = arith.divf %powers, %sums : tensor<2x100000xf32>
  %out = hal.tensor.export %result : tensor<2x100000xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// Equal groups are one kernel.
// CHECK-LABEL: util.func public @twice
// CHECK: flow.dispatch @dispatch_groups::@[[KERNEL:twice_[0-9]+_generic]](
// CHECK: flow.dispatch @dispatch_groups::@[[KERNEL]](
// CHECK: func.func @[[KERNEL]](
// CHECK-NOT: func.func @twice
util.func public @twice(%a_view: !hal.buffer_view, %b_view: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %a = hal.tensor.import %a_view : !hal.buffer_view -> tensor<4xf32>
  %b = hal.tensor.import %b_view : !hal.buffer_view -> tensor<4xf32>
  %0 = arith.mulf %a, %a : tensor<4xf32>
  %1 = arith.mulf %b, %b : tensor<4xf32>
  %2 = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  %3 = hal.tensor.export %1 : tensor<4xf32> -> !hal.buffer_view
  util.return %2, %3 : !hal.buffer_view, !hal.buffer_view
}
