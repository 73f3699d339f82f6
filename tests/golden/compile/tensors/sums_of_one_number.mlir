// A sum over a tensor that holds one number, of a size that only the call knows, and one that only counts: kernels have no room for
// such a tensor, so it is in memory.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=sum --input="3x4xf32=1" | FileCheck --check-prefix=SUM %s
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=sum --input="0x4xf32=" | FileCheck --check-prefix=NOTHING %s
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=count --input="5x4xf32=1" | FileCheck --check-prefix=COUNT %s
// RUN: baton-compile --target-device=cuda %s -o %t.cuda.bvm

// SUM: 4xf32=6 6 6 6
// NOTHING: 4xf32=0 0 0 0
func.func @sum(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %twos = linalg.fill ins(%two : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %line = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%line : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%twos : tensor<?x4xf32>) outs(%zeros : tensor<4xf32>) dimensions = [0]
  return %sum : tensor<4xf32>
}

// COUNT: 4xi32=5 5 5 5
func.func @count(%x: tensor<?x4xf32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %steps = tensor.empty(%rows) : tensor<?x4xf32>
  %line = tensor.empty() : tensor<4xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%line : tensor<4xi32>) -> tensor<4xi32>
  %count = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%steps : tensor<?x4xf32>) outs(%zeros : tensor<4xi32>) {
  ^bb0(%unused: f32, %out: i32):
    %next = arith.addi %out, %one : i32
    linalg.yield %next : i32
  } -> tensor<4xi32>
  return %count : tensor<4xi32>
}
