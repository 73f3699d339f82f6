// a * b over zeros is one call of mlp_external, which the plugin brings; what comes after stays the compiler's.
module attributes {transform.with_named_sequence} {
  stream.executable private @matmul_kernels {
    stream.executable.export public @matmul_entry workgroups() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func private @mlp_external(memref<f32>, index, memref<f32>, index, memref<f32>, index, i32, i32, i32, i1)
          attributes {llvm.bareptr = true}
      func.func @matmul_entry(%a: !stream.binding, %b: !stream.binding, %r: !stream.binding, %m: i32, %n: i32, %k: i32) {
        %c0 = arith.constant 0 : index
        %mi = arith.index_cast %m : i32 to index
        %ni = arith.index_cast %n : i32 to index
        %ki = arith.index_cast %k : i32 to index
        %am = stream.binding.subspan %a[%c0] : !stream.binding -> memref<?x?xf32>{%mi, %ki}
        %bm = stream.binding.subspan %b[%c0] : !stream.binding -> memref<?x?xf32>{%ki, %ni}
        %rm = stream.binding.subspan %r[%c0] : !stream.binding -> memref<?x?xf32>{%mi, %ni}
        %ap, %ao, %as:2, %at:2 = iree_codegen.extract_strided_metadata %am : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
        %bp, %bo, %bs:2, %bt:2 = iree_codegen.extract_strided_metadata %bm : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
        %rp, %ro, %rs:2, %rt:2 = iree_codegen.extract_strided_metadata %rm : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
        %relu = arith.constant false
        func.call @mlp_external(%ap, %ao, %bp, %bo, %rp, %ro, %m, %n, %k, %relu)
            : (memref<f32>, index, memref<f32>, index, memref<f32>, index, i32, i32, i32, i1) -> ()
        return
      }
    }
  }

  util.func private @call_matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x?xf32>
    %k = tensor.dim %a, %c1 : tensor<?x?xf32>
    %n = tensor.dim %b, %c1 : tensor<?x?xf32>
    %m32 = arith.index_cast %m : index to i32
    %n32 = arith.index_cast %n : index to i32
    %k32 = arith.index_cast %k : index to i32
    %r = flow.dispatch @matmul_kernels::@matmul_entry(%a, %b, %m32, %n32, %k32)
        : (tensor<?x?xf32>{%m, %k}, tensor<?x?xf32>{%k, %n}, i32, i32, i32) -> tensor<?x?xf32>{%m, %n}
    util.return %r : tensor<?x?xf32>
  }

  transform.named_sequence @match_matmul(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
      ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %init: tensor<?x?xf32>):
        %zero = arith.constant 0.0 : f32
        %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
        %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%fill : tensor<?x?xf32>) -> tensor<?x?xf32>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }

  transform.named_sequence @replace(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %program = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %kernels = transform.util.import_symbol @matmul_kernels into %program if undefined : (!transform.any_op) -> !transform.any_op
    %fn = transform.util.import_symbol @call_matmul into %program if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %fn(%ins) -> %out after %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }

  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.structured.match ops{["util.func"]} in %program : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {
      ^bb0(%function: !transform.any_op):
        transform.foreach_match in %function @match_matmul -> @replace : (!transform.any_op) -> !transform.any_op
    }
    transform.apply_dce to %program : !transform.any_op
    %inlined = transform.apply_registered_pass "inline" to %program : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
