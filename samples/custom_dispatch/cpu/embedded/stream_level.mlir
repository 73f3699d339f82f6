// Kernels that call C functions, at the stream level: the program says what a kernel does with its bindings, the compiler
// makes one executable for each target and links that target's object into it.
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64", {target_triple = "aarch64-none-elf"}>
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#arm_64, #x86_64]> : !hal.device

module @example attributes {hal.device.targets = [#cpu]} {
  stream.executable private @kernels attributes {
    hal.executable.objects = #hal.executable.objects<{
      #arm_64 = [#hal.executable.object<{path = "functions_arm_64.o"}>],
      #x86_64 = [#hal.executable.object<{path = "functions_x86_64.o"}>]
    }>
  } {
    // A workgroup for every 64 elements.
    stream.executable.export public @multiply workgroups(%count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      stream.return %groups, %one, %one : index, index, index
    }
    stream.executable.export public @scale workgroups(%count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    }

    builtin.module {
      func.func private @multiply_64(memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index)
          attributes {hal.import.static, llvm.bareptr = true}
      func.func private @scale_64(memref<f32>, index, memref<f32>, index, index, index)
          attributes {hal.import.static, llvm.bareptr}

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

      func.func @scale(%by_binding: !stream.binding, %data_binding: !stream.binding, %count: index) {
        %zero = arith.constant 0 : index
        %group = stream.dispatch.workgroup.id[0] : index
        %first = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%group]
        %by = stream.binding.subspan %by_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %data = stream.binding.subspan %data_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %by_base, %by_offset, %by_size, %by_stride = iree_codegen.extract_strided_metadata %by
            : memref<?xf32> -> memref<f32>, index, index, index
        %d_base, %d_offset, %d_size, %d_stride = iree_codegen.extract_strided_metadata %data
            : memref<?xf32> -> memref<f32>, index, index, index
        func.call @scale_64(%by_base, %by_offset, %d_base, %d_offset, %count, %first)
            : (memref<f32>, index, memref<f32>, index, index, index) -> ()
        return
      }
    }
  }

  // (a * b + b) * (a * b): two kernels of ours around one of the compiler's. The second overwrites the sum.
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %product = flow.dispatch @kernels::@multiply[%count](%a, %b, %count)
        : (tensor<?xf32>{%count}, tensor<?xf32>{%count}, index) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = flow.dispatch @kernels::@scale[%count](%product, %sum, %count)
        : (tensor<?xf32>{%count}, tensor<?xf32>{%count}, index) -> %sum{%count}
    return %result : tensor<?xf32>
  }
}
