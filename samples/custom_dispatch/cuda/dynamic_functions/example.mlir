// Functions that are found when the program is loaded, among what --executable_plugin= names. "clipped" has a body, which runs
// where nobody brings one. The compiled program is for CPUs, too.
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#cuda = #hal.device.target<"cuda", [#sm_75]> : !hal.device
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64">
#cpu = #hal.device.target<"local", [#x86_64, #arm_64]> : !hal.device

module @example attributes {hal.device.targets = [#cuda, #cpu]} {
  stream.executable private @kernels {
    // A workgroup for every element.
    stream.executable.export public @clip workgroups(%count: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      stream.return %count, %one, %one : index, index, index
    }

    builtin.module {
      func.func private @clipped(%x: f32, %limit: f32) -> f32 attributes {hal.import.dynamic} {
        %less = arith.minimumf %x, %limit : f32
        return %less : f32
      }

      func.func @clip(%binding: !stream.binding, %count: index) {
        %zero = arith.constant 0 : index
        %i = stream.dispatch.workgroup.id[0] : index
        %values = stream.binding.subspan %binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %limit = arith.constant 50.0 : f32
        %value = memref.load %values[%i] : memref<?xf32>
        %less = func.call @clipped(%value, %limit) : (f32, f32) -> f32
        memref.store %less, %values[%i] : memref<?xf32>
        return
      }
    }
  }

  // a * b + b, but no more than 50; what is found says if no less than -50.
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %product = arith.mulf %a, %b : tensor<?xf32>
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = flow.dispatch @kernels::@clip[%count](%sum, %count) : (tensor<?xf32>{%count}, index) -> %sum{%count}
    return %result : tensor<?xf32>
  }
}
