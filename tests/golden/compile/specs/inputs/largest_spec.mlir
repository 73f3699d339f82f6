// The index of the largest element of a row whose length is a multiple of 32, by matchers one after another; the kernel is an
// extern dispatch, in a func.func.
#vulkan = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
module attributes {transform.with_named_sequence} {
  func.func private @largest(%x: tensor<1x?xf32>) -> tensor<1xi32> {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<1x?xf32>
    %n32 = arith.index_cast %n : index to i32
    %r = hal.dispatch.extern "main"[%n](%n32, %x) : (i32, tensor<1x?xf32>{%n}) -> tensor<1xi32>
      count(%device: !hal.device, %w: index) -> (index, index, index) {
        %one = arith.constant 1 : index
        hal.return %one, %one, %one : index, index, index
      }
      layout(#layout)
      objects({#vulkan ordinal(0) = [#hal.executable.object<{path = "largest.spv"}>]})
    return %r : tensor<1xi32>
  }
  transform.named_sequence @match(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    transform.match.operation_name %root ["linalg.generic"] : !transform.any_op
    %rank2 = transform.match.structured failures(propagate) %root : (!transform.any_op) -> !transform.any_op {
      ^bb0(%op: !transform.any_op):
        %c2 = transform.param.constant 2 : i64 -> !transform.param<i64>
        %rank = transform.match.structured.rank %op : (!transform.any_op) -> !transform.param<i64>
        transform.match.param.cmpi eq %rank, %c2 : !transform.param<i64>
        transform.match.structured.dim %op[-1] {reduction} : !transform.any_op
        transform.match.structured.yield %op : !transform.any_op
    }
    %in = transform.get_operand %root[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %in = tensor<1x?xf32> : !transform.any_value
    transform.iree.match.dim_is_multiple_of %in[1], 32 : !transform.any_value
    transform.iree.match.regions %root : !transform.any_op {
      ^bb0(%x: tensor<1x?xf32>, %v: tensor<1xf32>, %i: tensor<1xi32>):
        %r:2 = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
            iterator_types = ["parallel", "reduction"]}
            ins(%x : tensor<1x?xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi32>) {
          ^bb0(%e: f32, %best: f32, %at: i32):
            %j = linalg.index 1 : index
            %j32 = arith.index_cast %j : index to i32
            %max = arith.maximumf %e, %best : f32
            %more = arith.cmpf ogt, %e, %best : f32
            %where = arith.select %more, %j32, %at : i32
            linalg.yield %max, %where : f32, i32
        } -> (tensor<1xf32>, tensor<1xi32>)
    }
    %out = transform.get_result %root[1] : (!transform.any_op) -> !transform.any_value
    transform.yield %in, %out : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @replace(%in: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %program = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %fn = transform.util.import_symbol @largest into %program if undefined : (!transform.any_op) -> !transform.any_op
    transform.func.cast_and_call %fn(%in) -> %out before %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.structured.match ops{["func.func"]} in %program : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {
      ^bb0(%function: !transform.any_op):
        transform.foreach_match in %function @match -> @replace : (!transform.any_op) -> !transform.any_op
    }
    transform.apply_dce to %program : !transform.any_op
    transform.yield
  }
}
