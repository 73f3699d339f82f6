module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %f = transform.util.import_symbol @absent into %program : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
