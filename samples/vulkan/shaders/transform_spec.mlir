// What an argmax of one row looks like, and the shader that takes its place.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>

module attributes {transform.with_named_sequence} {
  util.func private @argmax(%row: tensor<1x?xf32>) -> tensor<1xi64> {
    %one = arith.constant 1 : index
    %count = tensor.dim %row, %one : tensor<1x?xf32>
    %count_word = arith.index_cast %count : index to i32
    %index = hal.dispatch.extern "main"[%count](%count_word, %row) : (i32, tensor<1x?xf32>{%count}) -> tensor<1xi64>
      count(%device: !hal.device, %work: index) -> (index, index, index) {
        %single = arith.constant 1 : index
        hal.return %single, %single, %single : index, index, index
      }
      layout(#layout)
      objects({#spirv ordinal(0) = [#hal.executable.object<{path = "argmax.spv"}>]})
    util.return %index : tensor<1xi64>
  }
  transform.named_sequence @match_argmax(%root: !transform.any_op {transform.readonly})
      -> (!transform.any_value, !transform.any_value) {
    transform.match.operation_name %root ["linalg.generic"] : !transform.any_op
    %row = transform.get_operand %root[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %row = tensor<1x?xf32> : !transform.any_value
    transform.iree.match.regions %root : !transform.any_op {
      ^bb0(%x: tensor<1x?xf32>, %v: tensor<1xf32>, %i: tensor<1xi64>):
        %r:2 = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
            iterator_types = ["parallel", "reduction"]}
            ins(%x : tensor<1x?xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi64>) {
          ^bb0(%element: f32, %best: f32, %at: i64):
            %j = linalg.index 1 : index
            %j64 = arith.index_cast %j : index to i64
            %max = arith.maximumf %element, %best : f32
            %more = arith.cmpf ogt, %element, %best : f32
            %where = arith.select %more, %j64, %at : i64
            linalg.yield %max, %where : f32, i64
        } -> (tensor<1xf32>, tensor<1xi64>)
    }
    %index = transform.get_result %root[1] : (!transform.any_op) -> !transform.any_value
    transform.yield %row, %index : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @call_shader(%row: !transform.any_value {transform.readonly},
                                        %index: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %index : (!transform.any_value) -> !transform.any_op
    %program = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %function = transform.util.import_symbol @argmax into %program if undefined
        : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %function(%row) -> %index before %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.structured.match ops{["util.func"]} in %program : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {
      ^bb0(%function: !transform.any_op):
        transform.foreach_match in %function @match_argmax -> @call_shader : (!transform.any_op) -> !transform.any_op
    }
    transform.apply_dce to %program : !transform.any_op
    transform.yield
  }
}
