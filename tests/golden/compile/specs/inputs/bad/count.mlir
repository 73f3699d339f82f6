module attributes {transform.with_named_sequence} {
  util.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    util.return %x : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %root = transform.structured.match ops{["math.exp"]} in %program : (!transform.any_op) -> !transform.any_op
    %in = transform.get_operand %root[0] : (!transform.any_op) -> !transform.any_value
    %out = transform.get_result %root[0] : (!transform.any_op) -> !transform.any_value
    %f = transform.util.import_symbol @f into %program : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %f(%in) -> %out after %root
        : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}
