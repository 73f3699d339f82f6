// Shaders from GLSL beside a kernel of the compiler's: what stands between the dispatches of shaders is compiled for the
// same device. The second shader overwrites the sum.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

#multiply_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
#scale_layout = #hal.pipeline.layout<constants = 1, bindings = [
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
  hal.executable.source private @scale attributes {
    objects = #hal.executable.objects<{#spirv = [#hal.executable.object<{path = "scale.spv"}>]}>
  } {
    hal.executable.export public @main ordinal(0) layout(#scale_layout)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    }
  }

  // (a * b + b) * (a * b)
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = flow.dispatch @multiply::@main[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = flow.dispatch @scale::@main[%count](%count_word, %product, %sum)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> %sum{%count}
    return %result : tensor<?xf32>
  }
}
