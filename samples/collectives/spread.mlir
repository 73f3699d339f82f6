// How far the ranks are apart: what the largest of them is above their mean, element by element. nccl.cpp has the command;
// around it are kernels of the compiler.
util.func private @nccl.sum_and_max(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {iree.abi.streamable}

util.func public @spread(%x: tensor<8xf32>, %ranks: f32) -> tensor<8xf32> {
  %twice = arith.addf %x, %x : tensor<8xf32>
  %sum, %most = util.call @nccl.sum_and_max(%twice) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %counts = tensor.splat %ranks : tensor<8xf32>
  %mean = arith.divf %sum, %counts : tensor<8xf32>
  %above = arith.subf %most, %mean : tensor<8xf32>
  util.return %above : tensor<8xf32>
}
