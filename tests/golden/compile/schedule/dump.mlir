// --dump-schedule tells recordings, bindings, where transients lie and where barriers stand.
// RUN: baton-opt --schedule=dump-schedule %s -o %t | FileCheck %s

// Transients that never live together share memory; commands that don't depend on each other have no barrier.
// CHECK-LABEL: recording diamond.0, recorded once
// CHECK-NEXT: %0 external input0, 256 bytes
// CHECK-NEXT: %1 transient {{.*}}, 256 bytes, epochs 0 to 1, slab at [[A:[0-9]+]]
// CHECK-NEXT: %2 transient {{.*}}, 256 bytes, epochs 1 to 2, slab at [[B:[0-9]+]]
// CHECK-NEXT: %3 transient {{.*}}, 256 bytes, epochs 1 to 2, slab at [[C:[0-9]+]]
// CHECK-NEXT: %4 transient {{.*}}, 256 bytes, epochs 2 to 3, slab at [[A]]
// CHECK-NEXT: %5 result {{.*}}, 256 bytes
// CHECK-NEXT: slab of 768 bytes
// CHECK-NEXT: dispatch start r %0[0 for 256] w %1[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch left r %1[0 for 256] w %2[0 for 256]
// CHECK-NEXT: dispatch right r %1[0 for 256] w %3[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch join r %2[0 for 256] r %3[0 for 256] w %4[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch start r %4[0 for 256] w %5[0 for 256]
util.func public @diamond(%view: !hal.buffer_view) -> !hal.buffer_view {
  %one = arith.constant 1 : index
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<64xf32>
  %0 = flow.dispatch @kernels::@start[%one](%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = flow.dispatch @kernels::@left[%one](%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = flow.dispatch @kernels::@right[%one](%0) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = flow.dispatch @kernels::@join[%one](%1, %2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %4 = flow.dispatch @kernels::@start[%one](%3) : (tensor<64xf32>) -> tensor<64xf32>
  %out = hal.tensor.export %4 : tensor<64xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// A tied result takes its operand's memory; a copy of it where the caller or a later command still wants the old value.
// CHECK-LABEL: recording tied.0, recorded once
// CHECK: copy r %0[0 for 256] w %1[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch update rw %1[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: copy r %1[0 for 256] w %2[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch update rw %2[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch update rw %2[0 for 256]
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch join r %1[0 for 256] r %2[0 for 256] w %3[0 for 256]
util.func public @tied(%view: !hal.buffer_view) -> !hal.buffer_view {
  %one = arith.constant 1 : index
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<64xf32>
  %0 = flow.dispatch @kernels::@update[%one](%x) : (tensor<64xf32>) -> %x
  %1 = flow.dispatch @kernels::@update[%one](%0) : (tensor<64xf32>) -> %0
  %2 = flow.dispatch @kernels::@update[%one](%1) : (tensor<64xf32>) -> %1
  %3 = flow.dispatch @kernels::@join[%one](%0, %2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %out = hal.tensor.export %3 : tensor<64xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// With a size that only the caller knows each call records.
// CHECK-LABEL: recording sizes.0, recorded by calls
// CHECK: %1 transient {{.*}}, ? bytes, epochs 0 to 1, region 0
// CHECK: %2 transient {{.*}}, ? bytes, epochs 1 to 2, region 1
// CHECK: slab of 0 bytes and 2 regions
util.func public @sizes(%view: !hal.buffer_view) -> !hal.buffer_view {
  %n = hal.buffer_view.dim<%view : !hal.buffer_view>[0] : index
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<?xf32>{%n}
  %0 = flow.dispatch @kernels::@start[%n](%x) : (tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
  %1 = flow.dispatch @kernels::@start[%n](%0) : (tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
  %2 = flow.dispatch @kernels::@start[%n](%1) : (tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
  %out = hal.tensor.export %2 : tensor<?xf32>{%n} -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// What stands outside of a loop is wanted again in the next round: each round works on a copy.
// CHECK-LABEL: recording rounds.0, recorded once
// CHECK: dispatch start
// CHECK-LABEL: recording rounds.1, recorded once
// CHECK: copy
// CHECK-NEXT: barrier
// CHECK-NEXT: dispatch update
util.func public @rounds(%view: !hal.buffer_view, %n: index) -> !hal.buffer_view {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<64xf32>
  %0 = flow.dispatch @kernels::@start[%one](%x) : (tensor<64xf32>) -> tensor<64xf32>
  %last = scf.for %i = %zero to %n step %one iter_args(%before = %x) -> tensor<64xf32> {
    %1 = flow.dispatch @kernels::@update[%one](%0) : (tensor<64xf32>) -> %0
    scf.yield %1 : tensor<64xf32>
  }
  %out = hal.tensor.export %last : tensor<64xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

#in_out = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#two_in = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#in_place = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels {
  hal.executable.export public @start layout(#in_out)
  hal.executable.export public @left layout(#in_out)
  hal.executable.export public @right layout(#in_out)
  hal.executable.export public @join layout(#two_in)
  hal.executable.export public @update layout(#in_place)
}
