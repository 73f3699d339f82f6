// Constants of more than a hundred bits, as MLIR writes them that has a byte for each, and as MLIR 19 does, where eight share one.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=bytes | FileCheck %s --check-prefix=BYTES
// RUN: baton-run-module %t.bvm --device=local-sync --function=rows "--input=9xf32=1 2 3 4 5 6 7 8 9" | FileCheck %s --check-prefix=ROWS
// RUN: baton-run-module %t.bvm --device=local-sync --function=packed | FileCheck %s --check-prefix=PACKED
// RUN: baton-run-module %t.bvm --device=local-sync --function=others | FileCheck %s --check-prefix=OTHERS

// BYTES: 17xi1=1 0 1 1 0 0 0 0 0 0 1 0 0 0 0 0 1
func.func @bytes() -> tensor<17xi1> {
  %bits = arith.constant dense<"0x0100010100000000000001000000000001"> : tensor<17xi1>
  return %bits : tensor<17xi1>
}

// In front of a function, and in two dimensions.
#mask = dense<"0x000100010001010101"> : tensor<3x3xi1>

// ROWS: 9xf32=0 2 0 4 0 6 7 8 9
func.func @rows(%x: tensor<9xf32>) -> tensor<9xf32> {
  %mask = arith.constant #mask
  %flat = tensor.collapse_shape %mask [[0, 1]] : tensor<3x3xi1> into tensor<9xi1>
  %zero = arith.constant dense<0.0> : tensor<9xf32>
  %kept = arith.select %flat, %x, %zero : tensor<9xi1>, tensor<9xf32>
  return %kept : tensor<9xf32>
}

// PACKED: 17xi1=1 0 1 1 0 0 0 0 0 0 1 0 0 0 0 0 1
func.func @packed() -> tensor<17xi1> {
  %bits = arith.constant dense<"0x0D0401"> : tensor<17xi1>
  return %bits : tensor<17xi1>
}

// Other elements have a byte already.
// OTHERS: 3xi8=1 0 2
// OTHERS: 1xi1=1
func.func @others() -> (tensor<3xi8>, tensor<1xi1>) {
  %bytes = arith.constant dense<"0x010002"> : tensor<3xi8>
  %one = arith.constant dense<"0xFF"> : tensor<1xi1>
  return %bytes, %one : tensor<3xi8>, tensor<1xi1>
}
