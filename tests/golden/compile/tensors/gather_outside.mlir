// An index that comes from data is held inside what it reads: before the first element the first, behind the last the last.
// Under a condition it reads zero where it is outside. Nothing outside is touched, whatever the data say.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=embed --input="3x2xf32=1 2 3 4 5 6" --input="5xi32=2 100000000 -1 -2147483648 0" | FileCheck --check-prefix=EMBED %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=embed64 --input="3x2xf32=1 2 3 4 5 6" --input="3xi64=9223372036854775807 -9223372036854775808 1" | FileCheck --check-prefix=WIDE %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=guarded --input="3xf32=1 2 3" --input="4xi32=2 3 -1 0" | FileCheck --check-prefix=GUARDED %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=guarded --input="0xf32" --input="2xi32=0 5" | FileCheck --check-prefix=NOTHING %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=chosen --input="3xf32=1 2 3" | FileCheck --check-prefix=CHOSEN %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=rows --input="3x2xf32=1 2 3 4 5 6" --input="2x1xi64=7 1" | FileCheck --check-prefix=ROWS %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=rows --input="0x2xf32" --input="2x1xi64=0 0" 2>&1 | FileCheck --check-prefix=EMPTY %s

// EMBED: 5x2xf32=[5 6][5 6][1 2][1 2][1 2]
func.func @embed(%table: tensor<?x2xf32>, %ids: tensor<?xi32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %0 = tensor.generate %n {
  ^bb0(%a: index, %b: index):
    %k32 = tensor.extract %ids[%a] : tensor<?xi32>
    %k = arith.index_cast %k32 : i32 to index
    %v = tensor.extract %table[%k, %b] : tensor<?x2xf32>
    tensor.yield %v : f32
  } : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// WIDE: 3x2xf32=[5 6][1 2][3 4]
func.func @embed64(%table: tensor<3x2xf32>, %ids: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = tensor.generate {
  ^bb0(%a: index, %b: index):
    %k64 = tensor.extract %ids[%a] : tensor<3xi64>
    %k = arith.index_cast %k64 : i64 to index
    %v = tensor.extract %table[%k, %b] : tensor<3x2xf32>
    tensor.yield %v : f32
  } : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// GUARDED: 4xf32=3 0 0 -1
// NOTHING: 2xf32=-1 0
func.func @guarded(%x: tensor<?xf32>, %ids: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %minus = arith.constant -1.0 : f32
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %0 = tensor.generate %n {
  ^bb0(%a: index):
    %k32 = tensor.extract %ids[%a] : tensor<?xi32>
    %k = arith.index_cast %k32 : i32 to index
    %asks = arith.cmpi ne, %k, %c0 : index
    %v = scf.if %asks -> f32 {
      %e = tensor.extract %x[%k] : tensor<?xf32>
      scf.yield %e : f32
    } else {
      scf.yield %minus : f32
    }
    tensor.yield %v : f32
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The neighbour that isn't there is read and thrown away.
// CHOSEN: 3xf32=0 1 2
func.func @chosen(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = tensor.generate %n {
  ^bb0(%a: index):
    %before = arith.subi %a, %c1 : index
    %v = tensor.extract %x[%before] : tensor<?xf32>
    %is_first = arith.cmpi eq, %a, %c0 : index
    %r = arith.select %is_first, %zero, %v : f32
    tensor.yield %r : f32
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// ROWS: 2x1x2xf32={{\[+}}5 6{{\]+\[+}}3 4{{\]+}}
// EMPTY: OUT_OF_RANGE; tensor.gather: an element is asked of dimension 0 of operand 0, which has 0.
func.func @rows(%x: tensor<?x2xf32>, %ids: tensor<2x1xindex>) -> tensor<2x1x2xf32> {
  %0 = tensor.gather %x[%ids] gather_dims([0]) : (tensor<?x2xf32>, tensor<2x1xindex>) -> tensor<2x1x2xf32>
  return %0 : tensor<2x1x2xf32>
}
