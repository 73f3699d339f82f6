// A step of training by data parallelism: each rank has the same weights and rows of its own, and all step by the average
// of their gradients, so that the weights stay the same. The model is a line: x * w.
func.func @train(%x: tensor<4x2xf32>, %y: tensor<4x1xf32>, %w: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %half_rate = arith.constant 0.25 : f32  // The gradient of a square is twice what is squared.
  %rows = arith.constant 4.0 : f32

  // What each row is off by.
  %none = tensor.empty() : tensor<4x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<4x1xf32>) -> tensor<4x1xf32>
  %line = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x1xf32>) outs(%zeros : tensor<4x1xf32>) -> tensor<4x1xf32>
  %off = arith.subf %line, %y : tensor<4x1xf32>

  // This rank's half of the gradient, and its mean square.
  %nothing = tensor.empty() : tensor<2x1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<2x1xf32>) -> tensor<2x1xf32>
  %summed = linalg.matmul_transpose_a ins(%x, %off : tensor<4x2xf32>, tensor<4x1xf32>)
      outs(%start : tensor<2x1xf32>) -> tensor<2x1xf32>
  %own = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%summed : tensor<2x1xf32>) outs(%nothing : tensor<2x1xf32>) {
  ^bb0(%sum: f32, %unused: f32):
    %mean = arith.divf %sum, %rows : f32
    linalg.yield %mean : f32
  } -> tensor<2x1xf32>
  %scalar = tensor.empty() : tensor<f32>
  %no_loss = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %own_loss = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                              iterator_types = ["reduction", "reduction"]}
      ins(%off : tensor<4x1xf32>) outs(%no_loss : tensor<f32>) {
  ^bb0(%each: f32, %sum: f32):
    %square = arith.mulf %each, %each : f32
    %share = arith.divf %square, %rows : f32
    %more = arith.addf %sum, %share : f32
    linalg.yield %more : f32
  } -> tensor<f32>

  // All ranks'.
  %channel = flow.channel.default : !flow.channel
  %gradient = flow.collective.all_reduce average, f32, %start, %own, %channel
      : (tensor<2x1xf32>, tensor<2x1xf32>, !flow.channel) -> %start as tensor<2x1xf32>
  %loss = flow.collective.all_reduce average, f32, %no_loss, %own_loss, %channel
      : (tensor<f32>, tensor<f32>, !flow.channel) -> %no_loss as tensor<f32>

  %stepped = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                              affine_map<(i, j) -> (i, j)>],
                             iterator_types = ["parallel", "parallel"]}
      ins(%w, %gradient : tensor<2x1xf32>, tensor<2x1xf32>) outs(%nothing : tensor<2x1xf32>) {
  ^bb0(%weight: f32, %slope: f32, %unused: f32):
    %step = arith.mulf %slope, %half_rate : f32
    %double = arith.addf %step, %step : f32
    %new = arith.subf %weight, %double : f32
    linalg.yield %new : f32
  } -> tensor<2x1xf32>
  return %stepped, %loss : tensor<2x1xf32>, tensor<f32>
}
