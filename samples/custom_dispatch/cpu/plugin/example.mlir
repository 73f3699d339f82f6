// A kernel that calls a function which is not there when the program is compiled: a plugin brings it when the program is
// loaded (--executable_plugin=). The target comes from the command line.
module @example {
  stream.executable private @kernels {
    stream.executable.export public @multiply workgroups(%count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      stream.return %groups, %one, %one : index, index, index
    }

    builtin.module {
      // Without hal.import.static it is a dynamic import; the fields are appended to what it is passed.
      func.func private @multiply_group(memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index)
          attributes {hal.import.fields = ["processor_id", "processor_data"], llvm.bareptr = true}

      func.func @multiply(%a_binding: !stream.binding, %b_binding: !stream.binding, %product_binding: !stream.binding,
                          %count: index) {
        %zero = arith.constant 0 : index
        %group = stream.dispatch.workgroup.id[0] : index
        %a = stream.binding.subspan %a_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %b = stream.binding.subspan %b_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %product = stream.binding.subspan %product_binding[%zero] : !stream.binding -> memref<?xf32>{%count}
        %a_base, %a_offset, %a_size, %a_stride = iree_codegen.extract_strided_metadata %a
            : memref<?xf32> -> memref<f32>, index, index, index
        %b_base, %b_offset, %b_size, %b_stride = iree_codegen.extract_strided_metadata %b
            : memref<?xf32> -> memref<f32>, index, index, index
        %p_base, %p_offset, %p_size, %p_stride = iree_codegen.extract_strided_metadata %product
            : memref<?xf32> -> memref<f32>, index, index, index
        func.call @multiply_group(%a_base, %a_offset, %b_base, %b_offset, %p_base, %p_offset, %count, %group)
            : (memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index) -> ()
        return
      }
    }
  }

  // a * b + b
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %product = flow.dispatch @kernels::@multiply[%count](%a, %b, %count)
        : (tensor<?xf32>{%count}, tensor<?xf32>{%count}, index) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
}
