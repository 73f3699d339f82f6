// Ten elementwise operations in a row, which one kernel can do.
func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %0 = arith.addf %x, %x : tensor<1048576xf32>
  %1 = arith.mulf %0, %x : tensor<1048576xf32>
  %2 = arith.subf %1, %x : tensor<1048576xf32>
  %3 = arith.addf %2, %0 : tensor<1048576xf32>
  %4 = arith.mulf %3, %1 : tensor<1048576xf32>
  %5 = arith.negf %4 : tensor<1048576xf32>
  %6 = arith.maximumf %5, %x : tensor<1048576xf32>
  %7 = arith.addf %6, %2 : tensor<1048576xf32>
  %8 = arith.mulf %7, %3 : tensor<1048576xf32>
  %9 = arith.subf %8, %4 : tensor<1048576xf32>
  return %9 : tensor<1048576xf32>
}
