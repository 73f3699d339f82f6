// A shader that the host provides: the executable has no code, and is asked for by its name, "acme", when the program is
// loaded. Its entry point is the shader's.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>

module @example attributes {hal.device.targets = [#vulkan]} {
  hal.executable.source private @acme {
    hal.executable.export public @main ordinal(0) layout(#layout)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    }
  }

  // a * b + b
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = flow.dispatch @acme::@main[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
}
