module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    transform.util.import_symbol force @f into %program if undefined : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
