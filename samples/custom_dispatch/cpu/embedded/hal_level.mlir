// Kernels that call C functions, at the HAL level: the program spells out the variant for a target, the layout of bindings
// and constants, and the code that reads them.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#x86_64]> : !hal.device

#multiply_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
#scale_layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>

module @example attributes {hal.device.targets = [#cpu]} {
  hal.executable private @kernels {
    hal.executable.variant public @x86_64 target(#x86_64) objects([
      #hal.executable.object<{path = "functions_x86_64.o"}>
    ]) {
      hal.executable.export public @multiply ordinal(0) layout(#multiply_layout)
          count(%device: !hal.device, %count: index) -> (index, index, index) {
        %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
        %one = arith.constant 1 : index
        hal.return %groups, %one, %one : index, index, index
      }
      hal.executable.export public @scale ordinal(1) layout(#scale_layout)
          count(%device: !hal.device, %count: index) -> (index, index, index) {
        %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
        %one = arith.constant 1 : index
        hal.return %groups, %one, %one : index, index, index
      }

      builtin.module {
        func.func private @multiply_64(memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index)
            attributes {hal.import.static, llvm.bareptr = true}
        func.func private @scale_64(memref<f32>, index, memref<f32>, index, index, index)
            attributes {hal.import.static, llvm.bareptr = true}

        func.func @multiply() {
          %zero = arith.constant 0 : index
          %group = hal.interface.workgroup.id[0] : index
          %first = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%group]
          %count_word = hal.interface.constant.load layout(#multiply_layout) ordinal(0) : i32
          %count = arith.index_castui %count_word : i32 to index
          %a = hal.interface.binding.subspan layout(#multiply_layout) binding(0) alignment(64) offset(%zero)
              : memref<?xf32>{%count}
          %b = hal.interface.binding.subspan layout(#multiply_layout) binding(1) alignment(64) offset(%zero)
              : memref<?xf32>{%count}
          %product = hal.interface.binding.subspan layout(#multiply_layout) binding(2) alignment(64) offset(%zero)
              : memref<?xf32>{%count}
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

        func.func @scale() {
          %zero = arith.constant 0 : index
          %group = hal.interface.workgroup.id[0] : index
          %first = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%group]
          %count_word = hal.interface.constant.load layout(#scale_layout) ordinal(0) : i32
          %count = arith.index_castui %count_word : i32 to index
          %by = hal.interface.binding.subspan layout(#scale_layout) binding(0) alignment(64) offset(%zero)
              : memref<?xf32>{%count}
          %data = hal.interface.binding.subspan layout(#scale_layout) binding(1) alignment(64) offset(%zero)
              : memref<?xf32>{%count}
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
  }

  // (a * b + b) * (a * b): two kernels of ours around one of the compiler's. The second overwrites the sum.
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = flow.dispatch @kernels::@x86_64::@multiply[%count](%count_word, %a, %b) {hal.executable.ref = [@kernels]}
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    %result = flow.dispatch @kernels::@x86_64::@scale[%count](%count_word, %product, %sum) {hal.executable.ref = [@kernels]}
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> %sum{%count}
    return %result : tensor<?xf32>
  }
}
