// Finds -|a * b|, dynamic or static, and puts a dispatch in its place that calls C: negated_product_64 of functions.c.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>]>

module attributes {transform.with_named_sequence} {
  hal.executable private @kernels {
    hal.executable.variant public @x86_64 target(#x86_64) objects([#hal.executable.object<{path = "functions_x86_64.o"}>]) {
      hal.executable.export public @negated_product ordinal(0) layout(#layout) count(%device: !hal.device, %n: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      }
      builtin.module {
        func.func private @negated_product_64(memref<?xf32>, memref<?xf32>, memref<?xf32>, index, index) attributes {hal.import.static}
        func.func @negated_product() {
          %c0 = arith.constant 0 : index
          %n_i32 = hal.interface.constant.load layout(#layout) ordinal(0) : i32
          %n = arith.index_castui %n_i32 : i32 to index
          %group = hal.interface.workgroup.id[0] : index
          %first = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%group]
          %a = hal.interface.binding.subspan layout(#layout) binding(0) alignment(64) offset(%c0) : memref<?xf32>{%n}
          %b = hal.interface.binding.subspan layout(#layout) binding(1) alignment(64) offset(%c0) : memref<?xf32>{%n}
          %r = hal.interface.binding.subspan layout(#layout) binding(2) alignment(64) offset(%c0) : memref<?xf32>{%n}
          func.call @negated_product_64(%a, %b, %r, %n, %first) : (memref<?xf32>, memref<?xf32>, memref<?xf32>, index, index) -> ()
          return
        }
      }
    }
  }

  util.func private @call_negated_product(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %n_i32 = arith.index_cast %n : index to i32
    %r = flow.dispatch @kernels::@x86_64::@negated_product[%n](%n_i32, %a, %b)
        : (i32, tensor<?xf32>{%n}, tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
    util.return %r : tensor<?xf32>
  }

  transform.named_sequence @match_negated_product(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
      ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
        %c0 = arith.constant 0 : index
        %n = tensor.dim %a, %c0 : tensor<?xf32>
        %empty = tensor.empty(%n) {"match.operation_name_only"} : tensor<?xf32>
        %product = linalg.generic {
            indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
            iterator_types = ["parallel"]}
            ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
          ^bb0(%x: f32, %y: f32, %out: f32):
            %p = arith.mulf %x, %y : f32
            %m = math.absf %p : f32
            linalg.yield %m : f32
        } -> tensor<?xf32>
        %negated = arith.negf %product : tensor<?xf32>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }

  transform.named_sequence @call_kernel(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %program = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %kernels = transform.util.import_symbol @kernels into %program if undefined : (!transform.any_op) -> !transform.any_op
    %fn = transform.util.import_symbol @call_negated_product into %program if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %fn(%ins) -> %out after %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }

  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.structured.match ops{["func.func"]} in %program : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {
      ^bb0(%function: !transform.any_op):
        transform.foreach_match in %function @match_negated_product -> @call_kernel : (!transform.any_op) -> !transform.any_op
    }
    transform.apply_dce to %program : !transform.any_op
    transform.yield
  }
}
