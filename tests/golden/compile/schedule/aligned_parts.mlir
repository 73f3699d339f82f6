// A kernel reads a part of a tensor where it lies. But storage buffers of Vulkan's shaders begin at multiples of some bytes, so
// that a shader gets a copy of a part that doesn't for sure: of 28 bytes, not of 64.
// RUN: baton-compile --dump-schedule --target-device=vulkan %s | FileCheck %s
// RUN: baton-compile --dump-schedule --target-device=local %s | FileCheck %s --check-prefix=LOCAL
#layout = #hal.pipeline.layout<constants = 0, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>
]>

module @parts {
  hal.executable.source private @acme {
    hal.executable.export public @twice ordinal(0) layout(#layout) count(%device: !hal.device) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    }
  }
  // CHECK: recording odd.0
  // CHECK: copy r %0[28 for 28] w %[[COPY:[0-9]+]][0 for 28]
  // CHECK-NEXT: barrier
  // CHECK-NEXT: dispatch twice r %[[COPY]][0 for 28]
  // LOCAL: recording odd.0
  // LOCAL-NOT: copy
  // LOCAL: dispatch twice r %0[28 for 28]
  func.func @odd(%x: tensor<5x7xf32>) -> tensor<7xf32> {
    %row = tensor.extract_slice %x[1, 0] [1, 7] [1, 1] : tensor<5x7xf32> to tensor<7xf32>
    %twice = flow.dispatch @acme::@twice(%row) : (tensor<7xf32>) -> tensor<7xf32>
    return %twice : tensor<7xf32>
  }
  // CHECK: recording even.0
  // CHECK-NOT: copy
  // CHECK: dispatch twice r %0[? for 64]
  func.func @even(%x: tensor<?x16xf32>, %i: index) -> tensor<16xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1] : tensor<?x16xf32> to tensor<16xf32>
    %twice = flow.dispatch @acme::@twice(%row) : (tensor<16xf32>) -> tensor<16xf32>
    return %twice : tensor<16xf32>
  }
  // CHECK: recording unknown.0
  // CHECK: copy r %0[? for 28]
  // CHECK: dispatch twice r
  func.func @unknown(%x: tensor<?x7xf32>, %i: index) -> tensor<7xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 7] [1, 1] : tensor<?x7xf32> to tensor<7xf32>
    %twice = flow.dispatch @acme::@twice(%row) : (tensor<7xf32>) -> tensor<7xf32>
    return %twice : tensor<7xf32>
  }
}
