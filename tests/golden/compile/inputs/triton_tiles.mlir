// Behind what baton-import-triton writes of the kernel 'tiles'.
func.func @double(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %rows = arith.constant 2 : index
  %columns = arith.constant 3 : index
  %height = arith.constant 64 : i32
  %width = arith.constant 96 : i32
  %none = arith.constant 0 : i64
  %y = tensor.empty() : tensor<64x96xf32>
  %scratch = tensor.empty() : tensor<1536xi8>
  %z, %used = flow.dispatch @tiles::@tiles[%rows, %columns](%height, %width, %none, %x, %y, %scratch)
      : (i32, i32, i64, tensor<64x96xf32>, tensor<64x96xf32>, tensor<1536xi8>) -> (%y, %scratch)
  return %z : tensor<64x96xf32>
}
