// A layer of two products, cut in two by tensor parallelism: each rank has half of the hidden units, that is half of the
// columns of %first and half of the rows of %second, and so half of the sum that makes each result.
util.func private @collective.all_reduce(%x: tensor<4x8xf32>, %reduction: i32) -> tensor<4x8xf32>
    attributes {iree.abi.streamable}

func.func @mlp(%x: tensor<4x8xf32>, %first: tensor<8x16xf32>, %second: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %sum = arith.constant 1 : i32
  %none = tensor.empty() : tensor<4x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<4x16xf32>) -> tensor<4x16xf32>
  %product = linalg.matmul ins(%x, %first : tensor<4x8xf32>, tensor<8x16xf32>)
      outs(%zeros : tensor<4x16xf32>) -> tensor<4x16xf32>
  %hidden = arith.maximumf %product, %zeros : tensor<4x16xf32>
  %nothing = tensor.empty() : tensor<4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<4x8xf32>) -> tensor<4x8xf32>
  %part = linalg.matmul ins(%hidden, %second : tensor<4x16xf32>, tensor<16x8xf32>)
      outs(%start : tensor<4x8xf32>) -> tensor<4x8xf32>
  %all = util.call @collective.all_reduce(%part, %sum) : (tensor<4x8xf32>, i32) -> tensor<4x8xf32>
  return %all : tensor<4x8xf32>
}
