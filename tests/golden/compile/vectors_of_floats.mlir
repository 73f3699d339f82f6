// Functions of vectors of any float, in a kernel that is written out: halves are computed in f32, and doubles stay what they are.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=doubles --input=4xf64="-1 4 -9 1e-300" | FileCheck %s --check-prefix=DOUBLES
// RUN: baton-run-module %t.bvm --device=local-sync --function=singles --input=4xf32="-1 4 -9 16" | FileCheck %s --check-prefix=SINGLES
// RUN: baton-run-module %t.bvm --device=local-sync --function=halves --input=4xf16="-1 4 -9 16" | FileCheck %s --check-prefix=HALVES
// DOUBLES: 4xf64=1 2 3 1E-150
// SINGLES: 4xf32=1 2 3 4
// HALVES: 4xf16=1 2 3 4
func.func @doubles(%x: tensor<4xf64>) -> tensor<4xf64> {
  %root = call @of_doubles(%x) : (tensor<4xf64>) -> tensor<4xf64>
  return %root : tensor<4xf64>
}
func.func private @of_doubles(%x: tensor<4xf64>) -> tensor<4xf64> attributes {baton.on_cores = @kernel_of_doubles} {
  return %x : tensor<4xf64>
}
func.func private @kernel_of_doubles(%x: tensor<4xf64>) -> tensor<4xf64> attributes {baton.one_kernel} {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f64
  %memory = tensor.empty() : tensor<4xf64>
  %numbers = vector.transfer_read %x[%zero], %none {in_bounds = [true]} : tensor<4xf64>, vector<4xf64>
  %sizes = math.absf %numbers : vector<4xf64>
  %roots = math.sqrt %sizes : vector<4xf64>
  %made = vector.transfer_write %roots, %memory[%zero] {in_bounds = [true]} : vector<4xf64>, tensor<4xf64>
  return %made : tensor<4xf64>
}
func.func @singles(%x: tensor<4xf32>) -> tensor<4xf32> {
  %root = call @of_singles(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %root : tensor<4xf32>
}
func.func private @of_singles(%x: tensor<4xf32>) -> tensor<4xf32> attributes {baton.on_cores = @kernel_of_singles} {
  return %x : tensor<4xf32>
}
func.func private @kernel_of_singles(%x: tensor<4xf32>) -> tensor<4xf32> attributes {baton.one_kernel} {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %memory = tensor.empty() : tensor<4xf32>
  %numbers = vector.transfer_read %x[%zero], %none {in_bounds = [true]} : tensor<4xf32>, vector<4xf32>
  %sizes = math.absf %numbers : vector<4xf32>
  %roots = math.sqrt %sizes : vector<4xf32>
  %made = vector.transfer_write %roots, %memory[%zero] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %made : tensor<4xf32>
}
func.func @halves(%x: tensor<4xf16>) -> tensor<4xf16> {
  %root = call @of_halves(%x) : (tensor<4xf16>) -> tensor<4xf16>
  return %root : tensor<4xf16>
}
func.func private @of_halves(%x: tensor<4xf16>) -> tensor<4xf16> attributes {baton.on_cores = @kernel_of_halves} {
  return %x : tensor<4xf16>
}
func.func private @kernel_of_halves(%x: tensor<4xf16>) -> tensor<4xf16> attributes {baton.one_kernel} {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f16
  %memory = tensor.empty() : tensor<4xf16>
  %numbers = vector.transfer_read %x[%zero], %none {in_bounds = [true]} : tensor<4xf16>, vector<4xf16>
  %sizes = math.absf %numbers : vector<4xf16>
  %roots = math.sqrt %sizes : vector<4xf16>
  %made = vector.transfer_write %roots, %memory[%zero] {in_bounds = [true]} : vector<4xf16>, tensor<4xf16>
  return %made : tensor<4xf16>
}
