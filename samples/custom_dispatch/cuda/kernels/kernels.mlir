// Kernels from PTX, for two architectures: the program names an object for each, and the device takes what suits it
// best. What stands between their dispatches is compiled for the same two.
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda = #hal.device.target<"cuda", [#sm_75, #sm_90]> : !hal.device

#multiply_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
#scale_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>

module @example attributes {hal.device.targets = [#cuda]} {
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{
      #sm_75 = [#hal.executable.object<{path = "kernels_sm_75.ptx"}>],
      #sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]
    }>
  } {
    hal.executable.export public @multiply ordinal(0) layout(#multiply_layout)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %blocks = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %blocks, %one, %one : index, index, index
    } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
    hal.executable.export public @scale ordinal(1) layout(#scale_layout)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %blocks = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %blocks, %one, %one : index, index, index
    } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
  }

  // (a * b + b) * (a * b): two kernels of ours around one of the compiler's. The second overwrites the sum.
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = flow.dispatch @kernels::@multiply[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = flow.dispatch @kernels::@scale[%count](%count_word, %product, %sum)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> %sum{%count}
    return %result : tensor<?xf32>
  }
}
