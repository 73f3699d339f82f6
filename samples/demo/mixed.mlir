// 2 * a + (a * b + b): a product in C, a sum that the compiler generates, and a command that a native module records.
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64", {target_triple = "aarch64-none-elf"}>
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#arm_64, #x86_64]> : !hal.device

module @mixed attributes {hal.device.targets = [#cpu]} {
  stream.executable private @kernels attributes {
    hal.executable.objects = #hal.executable.objects<{
      #arm_64 = [#hal.executable.object<{path = "functions_arm_64.o"}>],
      #x86_64 = [#hal.executable.object<{path = "functions_x86_64.o"}>]
    }>
  } {
    stream.executable.export public @multiply workgroups(%count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      stream.return %groups, %one, %one : index, index, index
    }
    builtin.module {
      func.func private @multiply_64(memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index)
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
    }
  }

  // What samples/custom_command/blas.cpp exports: y = alpha * x + y, in place.
  util.func private @blas.saxpy(%alpha: f32, %x: tensor<?xf32>, %y: tensor<?xf32>) -> %y attributes {iree.abi.streamable}

  util.func public @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %two = arith.constant 2.0 : f32
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %product = flow.dispatch @kernels::@multiply[%count](%a, %b, %count)
        : (tensor<?xf32>{%count}, tensor<?xf32>{%count}, index) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = util.call @blas.saxpy(%two, %a, %sum) : (f32, tensor<?xf32>, tensor<?xf32>) -> %sum
    util.return %result : tensor<?xf32>
  }
}
