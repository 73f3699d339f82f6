// Constants whose bytes stand behind the program, where frontends put weights: the first four bytes of each say how they are aligned.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=products "--input=1x2xf32=1 2" | FileCheck %s --check-prefix=PRODUCTS
// RUN: baton-run-module %t.bvm --device=local-sync --function=types | FileCheck %s --check-prefix=TYPES
// RUN: baton-run-module %t.bvm --device=local-sync --function=bits | FileCheck %s --check-prefix=BITS
// RUN: baton-run-module %t.bvm --device=local-sync --function=globals "--input=2xi32=1 2" | FileCheck %s --check-prefix=GLOBALS

// PRODUCTS: 1x3xf32=[9 12 15]
func.func @products(%x: tensor<1x2xf32>) -> tensor<1x3xf32> {
  %weights = arith.constant dense_resource<weights> : tensor<2x3xf32>
  %zero = arith.constant dense<0.0> : tensor<1x3xf32>
  %y = linalg.matmul ins(%x, %weights : tensor<1x2xf32>, tensor<2x3xf32>) outs(%zero : tensor<1x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// TYPES: 2xbf16=1 2
// TYPES: 2xi64=1 -1
// TYPES: 2xcomplex<f32>=1+2j -1+0j
// TYPES: 4xi32=1 2 -1 -8
// TYPES: 2xf32=1 -1
// TYPES: 0xf32=
// TYPES: f64=1
func.func @types() -> (tensor<2xbf16>, tensor<2xi64>, tensor<2xcomplex<f32>>, tensor<4xi32>, tensor<2xf32>, tensor<0xf32>, tensor<f64>) {
  %halves = arith.constant dense_resource<halves> : tensor<2xbf16>
  %places = arith.constant dense_resource<places> : tensor<2xindex>
  %integers = arith.index_cast %places : tensor<2xindex> to tensor<2xi64>
  %complex = arith.constant dense_resource<complex> : tensor<2xcomplex<f32>>
  %small = arith.constant dense_resource<small> : tensor<4xi4>
  %wide = arith.extsi %small : tensor<4xi4> to tensor<4xi32>
  %eighths = arith.constant dense_resource<eighths> : tensor<2xf8E4M3FN>
  %floats = arith.extf %eighths : tensor<2xf8E4M3FN> to tensor<2xf32>
  %nothing = arith.constant dense_resource<nothing> : tensor<0xf32>
  %one = "tosa.const"() <{value = dense_resource<one> : tensor<f64>}> : () -> tensor<f64>
  return %halves, %integers, %complex, %wide, %floats, %nothing, %one
    : tensor<2xbf16>, tensor<2xi64>, tensor<2xcomplex<f32>>, tensor<4xi32>, tensor<2xf32>, tensor<0xf32>, tensor<f64>
}

// A byte for each, and eight in one.
// BITS: 9xi1=1 0 1 1 0 0 0 0 1
// BITS: 9xi1=1 0 1 1 0 0 0 0 1
func.func @bits() -> (tensor<9xi1>, tensor<9xi1>) {
  %bytes = arith.constant dense_resource<bytes> : tensor<9xi1>
  %packed = arith.constant dense_resource<packed> : tensor<9xi1>
  return %bytes, %packed : tensor<9xi1>, tensor<9xi1>
}

util.global private mutable @counts = dense_resource<counts> : tensor<2xi32>
ml_program.global private @steps(dense_resource<counts> : tensor<2xi32>) : tensor<2xi32>

// GLOBALS: 2xi32=15 28
func.func @globals(%x: tensor<2xi32>) -> tensor<2xi32> {
  %counts = util.global.load @counts : tensor<2xi32>
  %steps = ml_program.global_load_const @steps : tensor<2xi32>
  %sum = arith.addi %counts, %x : tensor<2xi32>
  util.global.store %sum, @counts : tensor<2xi32>
  %again = util.global.load @counts : tensor<2xi32>
  %both = arith.addi %again, %steps : tensor<2xi32>
  return %both : tensor<2xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F0000004000004040000080400000A0400000C040",
      halves: "0x04000000803F0040",
      places: "0x080000000100000000000000FFFFFFFFFFFFFFFF",
      complex: "0x040000000000803F00000040000080BF00000000",
      small: "0x010000000102FFF8",
      eighths: "0x0100000038B8",
      nothing: "0x04000000",
      one: "0x08000000000000000000F03F",
      bytes: "0x01000000010001010000000001",
      packed: "0x010000000D01",
      counts: "0x04000000070000000D000000"
    }
  }
#-}
