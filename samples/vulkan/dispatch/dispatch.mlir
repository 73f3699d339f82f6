// Whole shaders, compiled with glslc, in a program for Vulkan: the program names their files, and dispatches them. One
// takes its buffers as descriptors, the other by address; the program says nothing of that.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

#multiply_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
#add_to_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>

module @example attributes {hal.device.targets = [#vulkan]} {
  hal.executable.source private @multiply attributes {
    objects = #hal.executable.objects<{#spirv = [#hal.executable.object<{path = "multiply.spv"}>]}>
  } {
    hal.executable.export public @main ordinal(0) layout(#multiply_layout)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    }
  }
  hal.executable.source private @add_to attributes {
    objects = #hal.executable.objects<{#spirv = [#hal.executable.object<{path = "add_to.spv"}>]}>
  } {
    hal.executable.export public @main ordinal(0) layout(#add_to_layout)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    }
  }

  // a * b + a: the product, and then a added to it where it is.
  func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = flow.dispatch @multiply::@main[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    %sum = flow.dispatch @add_to::@main[%count](%count_word, %a, %product)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> %product{%count}
    return %sum : tensor<?xf32>
  }
}
