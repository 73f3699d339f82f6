// relu with the zero of a constant outside of the region; and by name only, whatever it takes.
module attributes {transform.with_named_sequence} {
  util.func private @relu(%x: tensor<?xf32>, %into: tensor<?xf32>) -> tensor<?xf32> {
    util.return %x : tensor<?xf32>
  }
  transform.named_sequence @match(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
      ^bb0(%x: tensor<?xf32>, %into: tensor<?xf32>):
        %zero = arith.constant 0.0 : f32
        %r = linalg.generic {
            indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
            ins(%x : tensor<?xf32>) outs(%into : tensor<?xf32>) {
          ^bb0(%e: f32, %out: f32):
            %m = arith.maximumf %e, %zero : f32
            linalg.yield %m : f32
        } -> tensor<?xf32>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @replace(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %program = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %fn = transform.util.import_symbol @relu into %program if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %fn(%ins) -> %out after %root
        : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %updated = transform.foreach_match in %program @match -> @replace : (!transform.any_op) -> !transform.any_op
    transform.apply_dce to %updated : !transform.any_op
    transform.yield
  }
}
