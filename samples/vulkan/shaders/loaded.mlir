// A function that is found when the program is loaded, among what --executable_plugin= names; where it is not, its own body
// runs. Beside it, one that is linked when the program is compiled.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

module @example attributes {hal.device.targets = [#vulkan]} {
  stream.executable private @kernels attributes {
    hal.executable.objects = #hal.executable.objects<{#spirv = [#hal.executable.object<{path = "functions.glsl"}>]}>
  } {
    // A workgroup for every 64 elements.
    stream.executable.export public @multiply workgroups(%count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      stream.return %groups, %one, %one : index, index, index
    }
    // And for every one.
    stream.executable.export public @clip workgroups(%count: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      stream.return %count, %one, %one : index, index, index
    }

    builtin.module {
      func.func private @multiply_64(memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index)
          attributes {hal.import.static, llvm.bareptr}
      func.func private @clipped(%x: f32, %limit: f32) -> f32 attributes {hal.import.dynamic} {
        %less = arith.minimumf %x, %limit : f32
        return %less : f32
      }

      func.func @multiply(%a_binding: !stream.binding, %b_binding: !stream.binding, %product_binding: !stream.binding,
                          %count: index) {
        %zero = arith.constant 0 : index
        %group = stream.dispatch.workgroup.id[0] : index
        %first = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%group]
        %a = stream.binding.subspan %a_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %b = stream.binding.subspan %b_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %product = stream.binding.subspan %product_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %a_base, %a_offset, %a_size, %a_stride = iree_codegen.extract_strided_metadata %a
            : memref<?xf32> -> memref<f32>, index, index, index
        %b_base, %b_offset, %b_size, %b_stride = iree_codegen.extract_strided_metadata %b
            : memref<?xf32> -> memref<f32>, index, index, index
        %p_base, %p_offset, %p_size, %p_stride = iree_codegen.extract_strided_metadata %product
            : memref<?xf32> -> memref<f32>, index, index, index
        func.call @multiply_64(%a_base, %a_offset, %b_base, %b_offset, %p_base, %p_offset, %count, %first)
            : (memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index) -> ()
        return
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
    %product = flow.dispatch @kernels::@multiply[%count](%a, %b, %count)
        : (tensor<?xf32>{%count}, tensor<?xf32>{%count}, index) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = flow.dispatch @kernels::@clip[%count](%sum, %count) : (tensor<?xf32>{%count}, index) -> %sum{%count}
    return %result : tensor<?xf32>
  }
}
