// Behind what baton-import-triton writes of the kernel 'row_sums': a program for each row, up to 1024 columns.
func.func @sums(%x: tensor<4x1000xf32>) -> tensor<4xf32> {
  %programs = arith.constant 4 : index
  %count = arith.constant 1000 : i32
  %none = arith.constant 0 : i64
  %y = flow.dispatch @row_sums::@row_sums[%programs](%count, %none, %none, %x) : (i32, i64, i64, tensor<4x1000xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
