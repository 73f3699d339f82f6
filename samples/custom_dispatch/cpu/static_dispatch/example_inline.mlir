// A dispatch and its executable in one, where it is wanted. The object is a finished library, and a condition asks the
// device before it is taken.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64">
#cpu = #hal.device.target<"local", [#x86_64, #arm_64]> : !hal.device

module @example attributes {hal.device.targets = [#cpu]} {
  // a * b + b
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = hal.dispatch.extern "multiply"[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
      count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %one = arith.constant 1 : index
        hal.return %groups, %one, %one : index, index, index
      }
      layout(#hal.pipeline.layout<constants = 1, bindings = [
        #hal.pipeline.binding<storage_buffer, ReadOnly>,
        #hal.pipeline.binding<storage_buffer, ReadOnly>,
        #hal.pipeline.binding<storage_buffer>
      ]>)
      objects({
        #x86_64 if(%device: !hal.device) -> i1 {
          %ok, %takes = hal.device.query<%device : !hal.device> key("hal.executable.format" :: "embedded-elf-x86_64")
              : i1, i1 = false
          hal.return %takes : i1
        } ordinal(0) = [#hal.executable.object<{path = "library_x86_64.so"}>],
        #arm_64 ordinal(0) = [#hal.executable.object<{path = "library_arm_64.so"}>]
      })
    %sum = arith.addf %product, %b : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
}
