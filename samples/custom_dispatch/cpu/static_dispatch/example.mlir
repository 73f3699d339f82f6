// Whole kernels of the user's, embedded: for each target of the device one object, whose functions are called as they are.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64">
#cpu = #hal.device.target<"local", [#x86_64, #arm_64]> : !hal.device

module @example attributes {hal.device.targets = [#cpu]} {
  // An object file of nothing but the two functions; the compiler makes the table around them.
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{
      #x86_64 = [#hal.executable.object<{path = "kernels_x86_64.o"}>],
      #arm_64 = [#hal.executable.object<{path = "kernels_arm_64.o"}>]
    }>
  } {
    hal.executable.export public @multiply ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
    hal.executable.export public @scale ordinal(1)
        layout(#hal.pipeline.layout<constants = 1, bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
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
