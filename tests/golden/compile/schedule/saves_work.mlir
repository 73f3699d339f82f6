// What is dear is computed once: what comes before a product isn't done again for each of its columns, and follows the
// product before it instead. What costs nothing (a conversion, a constant) goes to all who read it.
// RUN: baton-opt --form-dispatches %s | FileCheck %s

// CHECK-LABEL: util.func public @layers
// CHECK: %[[HIDDEN:.*]] = flow.dispatch @dispatch_groups::@[[FIRST:layers_[0-9]+_generic]](
// CHECK-NEXT: flow.dispatch @dispatch_groups::@[[SECOND:layers_[0-9]+_.*]](%[[HIDDEN]],
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @layers(%x_view: !hal.buffer_view, %v_view: !hal.buffer_view, %w_view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %x_view : !hal.buffer_view -> tensor<1x32x16xf32>
  %v = hal.tensor.import %v_view : !hal.buffer_view -> tensor<16x64xf32>
  %w = hal.tensor.import %w_view : !hal.buffer_view -> tensor<64x16xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
  %first = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %v : tensor<1x32x16xf32>, tensor<16x64xf32>) outs(%f : tensor<1x32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x32x64xf32>
  %hidden = math.tanh %first : tensor<1x32x64xf32>
  %e2 = tensor.empty() : tensor<1x32x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x32x16xf32>) -> tensor<1x32x16xf32>
  %second = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%hidden, %w : tensor<1x32x64xf32>, tensor<64x16xf32>) outs(%f2 : tensor<1x32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x32x16xf32>
  %out = hal.tensor.export %second : tensor<1x32x16xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// A wider copy of what came in would be twice the memory for both.
// CHECK-LABEL: util.func public @converted
// CHECK-COUNT-2: flow.dispatch {{.*}} -> tensor<{{.*}}xf32>
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @converted(%view: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x64xf16>
  %wide = arith.extf %x : tensor<8x64xf16> to tensor<8x64xf32>
  %doubled = arith.addf %wide, %wide : tensor<8x64xf32>
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%wide : tensor<8x64xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  %out = hal.tensor.export %doubled : tensor<8x64xf32> -> !hal.buffer_view
  %sums = hal.tensor.export %sum : tensor<8xf32> -> !hal.buffer_view
  util.return %out, %sums : !hal.buffer_view, !hal.buffer_view
}

// The same number everywhere is no kernel.
// CHECK-LABEL: util.func public @mean
// CHECK-COUNT-1: flow.dispatch
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @mean(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x64xf32>
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<64.0> : tensor<f32>
  %row = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<8x64xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  %kept = tensor.expand_shape %sum [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x1xf32>
  %counts = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%count : tensor<f32>) outs(%e : tensor<8x1xf32>) {
  ^bb0(%c: f32, %s: f32):
    linalg.yield %c : f32
  } -> tensor<8x1xf32>
  %mean = arith.divf %kept, %counts : tensor<8x1xf32>
  %out = hal.tensor.export %mean : tensor<8x1xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// Numbers of places are counted where they are read: no kernel writes them, for however many readers.
// CHECK-LABEL: util.func public @places
// CHECK-COUNT-2: flow.dispatch {{.*}}(%{{[0-9]+}}) : (tensor<8x64xi32>)
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @places(%view: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x64xi32>
  %e = tensor.empty() : tensor<8x64xi32>
  %places = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x64xi32>) {
  ^bb0(%o: i32):
    %at = linalg.index 1 : index
    %number = arith.index_cast %at : index to i32
    linalg.yield %number : i32
  } -> tensor<8x64xi32>
  %moved = arith.addi %x, %places : tensor<8x64xi32>
  %zero = arith.constant 0 : i32
  %row = tensor.empty() : tensor<8xi32>
  %start = linalg.fill ins(%zero : i32) outs(%row : tensor<8xi32>) -> tensor<8xi32>
  %count = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %places : tensor<8x64xi32>, tensor<8x64xi32>) outs(%start : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %less = arith.cmpi slt, %a, %b : i32
    %one = arith.extui %less : i1 to i32
    %t = arith.addi %s, %one : i32
    linalg.yield %t : i32
  } -> tensor<8xi32>
  %out = hal.tensor.export %moved : tensor<8x64xi32> -> !hal.buffer_view
  %counts = hal.tensor.export %count : tensor<8xi32> -> !hal.buffer_view
  util.return %out, %counts : !hal.buffer_view, !hal.buffer_view
}

// Slices are read where they lie, by each reader for itself.
// CHECK-LABEL: util.func public @gates
// CHECK-COUNT-2: flow.dispatch {{.*}} : (tensor<8x64xf32>) -> tensor<8x32xf32>
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @gates(%view: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x64xf32>
  %left = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %right = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %bent = math.tanh %left : tensor<8x32xf32>
  %mixed = arith.mulf %bent, %right : tensor<8x32xf32>
  %sum = arith.addf %left, %right : tensor<8x32xf32>
  %out = hal.tensor.export %mixed : tensor<8x32xf32> -> !hal.buffer_view
  %sums = hal.tensor.export %sum : tensor<8x32xf32> -> !hal.buffer_view
  util.return %out, %sums : !hal.buffer_view, !hal.buffer_view
}

// One that is handed on as it is, too, is copied once for all.
// CHECK-LABEL: util.func public @handed_on
// CHECK: %[[SLICE:.*]] = flow.dispatch {{.*}}_extract_slice(
// CHECK-NEXT: flow.dispatch {{.*}}(%[[SLICE]])
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @handed_on(%view: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x64xf32>
  %left = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %bent = math.tanh %left : tensor<8x32xf32>
  %out = hal.tensor.export %bent : tensor<8x32xf32> -> !hal.buffer_view
  %same = hal.tensor.export %left : tensor<8x32xf32> -> !hal.buffer_view
  util.return %out, %same : !hal.buffer_view, !hal.buffer_view
}

// What is read by index would be computed as a whole by each workgroup: it is a kernel of its own.
// CHECK-LABEL: util.func public @beside
// CHECK: %[[PRODUCT:.*]] = flow.dispatch {{.*}}_matmul(
// CHECK-NEXT: flow.dispatch {{.*}}%[[PRODUCT]]
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @beside(%x_view: !hal.buffer_view, %w_view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %x_view : !hal.buffer_view -> tensor<512x64xf32>
  %w = hal.tensor.import %w_view : !hal.buffer_view -> tensor<64x512xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %product = linalg.matmul ins(%x, %w : tensor<512x64xf32>, tensor<64x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %whole = tensor.empty() : tensor<512x576xf32>
  %joined = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%whole : tensor<512x576xf32>) {
  ^bb0(%o: f32):
    %c64 = arith.constant 64 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c64 : index
    %element = scf.if %first -> f32 {
      %a = tensor.extract %x[%i, %j] : tensor<512x64xf32>
      scf.yield %a : f32
    } else {
      %at = arith.subi %j, %c64 : index
      %b = tensor.extract %product[%i, %at] : tensor<512x512xf32>
      scf.yield %b : f32
    }
    linalg.yield %element : f32
  } -> tensor<512x576xf32>
  %out = hal.tensor.export %joined : tensor<512x576xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// Elements of slices are read where they lie, by index as well.
// CHECK-LABEL: util.func public @roll
// CHECK-NOT: _extract_slice
// CHECK: flow.dispatch @dispatch_groups::@[[ROLL:roll_[0-9]+_generic]](%{{[a-z0-9_]+}}) : (tensor<8x64xf32>)
// CHECK-NOT: flow.dispatch
// CHECK: util.return
util.func public @roll(%x_view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %x_view : !hal.buffer_view -> tensor<8x64xf32>
  %last = tensor.extract_slice %x[0, 61] [8, 3] [1, 1] : tensor<8x64xf32> to tensor<8x3xf32>
  %others = tensor.extract_slice %x[0, 0] [8, 61] [1, 1] : tensor<8x64xf32> to tensor<8x61xf32>
  %whole = tensor.empty() : tensor<8x64xf32>
  %rolled = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%whole : tensor<8x64xf32>) {
  ^bb0(%o: f32):
    %c3 = arith.constant 3 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c3 : index
    %element = scf.if %first -> f32 {
      %a = tensor.extract %last[%i, %j] : tensor<8x3xf32>
      scf.yield %a : f32
    } else {
      %at = arith.subi %j, %c3 : index
      %b = tensor.extract %others[%i, %at] : tensor<8x61xf32>
      scf.yield %b : f32
    }
    linalg.yield %element : f32
  } -> tensor<8x64xf32>
  %out = hal.tensor.export %rolled : tensor<8x64xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}
