// A shader dispatched where it stands: layout, grid and file are said in place.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>

module @example attributes {hal.device.targets = [#vulkan]} {
  // a * b + b
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = hal.dispatch.extern "main"[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
      count(%device: !hal.device, %work: index) -> (index, index, index) {
        %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%work]
        %one = arith.constant 1 : index
        hal.return %groups, %one, %one : index, index, index
      }
      layout(#layout)
      objects({#spirv ordinal(0) = [#hal.executable.object<{path = "multiply.spv"}>]})
    %sum = arith.addf %product, %b : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
}
