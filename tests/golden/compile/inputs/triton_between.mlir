// Behind what baton-import-triton writes of the kernel 'between'.
func.func @shift(%x: tensor<256xf32>, %bias: f32) -> tensor<256xf32> {
  %programs = arith.constant 2 : index
  %count = arith.constant 256 : i32
  %none = arith.constant 0 : i64
  %y = flow.dispatch @between::@between[%programs](%bias, %count, %none, %none, %x) : (f32, i32, i64, i64, tensor<256xf32>) -> tensor<256xf32>
  return %y : tensor<256xf32>
}
