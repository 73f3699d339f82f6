// exp(a * b) + c, for rows whose length is unknown.
module attributes {transform.with_named_sequence} {
  util.func private @expo(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
    util.return %a : tensor<4x?xf32>
  }
  transform.named_sequence @match(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
      ^bb0(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>):
        %ab = arith.mulf %a, %b : tensor<4x?xf32>
        %e = math.exp %ab : tensor<4x?xf32>
        %r = arith.addf %e, %c : tensor<4x?xf32>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @replace(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %program = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %fn = transform.util.import_symbol @expo into %program if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call @expo(%ins) -> %out before %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.structured.match ops{["util.func"]} in %program : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {
      ^bb0(%function: !transform.any_op):
        transform.foreach_match in %function @match -> @replace : (!transform.any_op) -> !transform.any_op
    }
    transform.apply_dce to %program : !transform.any_op
    transform.yield
  }
}
