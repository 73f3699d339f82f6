// An argmax as frontends write it; transform_spec.mlir puts a shader in its place.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

module @example attributes {hal.device.targets = [#vulkan]} {
  // Where a - b + b is largest, for rows of 128 elements.
  func.func @mixed_invocation(%a: tensor<1x128xf32>, %b: tensor<1x128xf32>) -> tensor<1xi64> {
    %difference = arith.subf %a, %b : tensor<1x128xf32>
    %row = arith.addf %difference, %b : tensor<1x128xf32>
    %low = arith.constant 0xFF800000 : f32
    %first = arith.constant 0 : i64
    %no_value = tensor.empty() : tensor<1xf32>
    %no_index = tensor.empty() : tensor<1xi64>
    %value = linalg.fill ins(%low : f32) outs(%no_value : tensor<1xf32>) -> tensor<1xf32>
    %index = linalg.fill ins(%first : i64) outs(%no_index : tensor<1xi64>) -> tensor<1xi64>
    %largest:2 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%row : tensor<1x128xf32>) outs(%value, %index : tensor<1xf32>, tensor<1xi64>) {
      ^bb0(%element: f32, %best: f32, %at: i64):
        %j = linalg.index 1 : index
        %j64 = arith.index_cast %j : index to i64
        %max = arith.maximumf %element, %best : f32
        %more = arith.cmpf ogt, %element, %best : f32
        %where = arith.select %more, %j64, %at : i64
        linalg.yield %max, %where : f32, i64
    } -> (tensor<1xf32>, tensor<1xi64>)
    return %largest#1 : tensor<1xi64>
  }
}
