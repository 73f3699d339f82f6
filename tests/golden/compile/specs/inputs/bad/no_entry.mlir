module attributes {transform.with_named_sequence} {
  transform.named_sequence @main(%program: !transform.any_op) {
    transform.yield
  }
}
