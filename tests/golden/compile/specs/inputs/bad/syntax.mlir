module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    transform.iree.match.cast_compatible_types %program
  }
}
