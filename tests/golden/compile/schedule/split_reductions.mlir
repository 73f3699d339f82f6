// A reduction of very many elements to few results is done in parts side by side, then over the parts; of few, or where the
// operation has no neutral element, in one piece.
// RUN: baton-compile --target-device=local --dump-schedule %s | FileCheck %s --check-prefix=SCHEDULE
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=sum --input=1048576xf32=0.5 | FileCheck %s --check-prefix=SUM
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=largest_square --input=512x1024xi32=-3 \
// RUN:   | FileCheck %s --check-prefix=LARGEST
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=columns --input=65536x4xi32=2 | FileCheck %s --check-prefix=COLUMNS
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=odd --input=131071xi32=1 | FileCheck %s --check-prefix=ODD

module @reductions {
  // SCHEDULE: recording sum.0
  // SCHEDULE: {{^  dispatch}} {{.*}} w %[[PARTS:[0-9]+]][0 for 1024]
  // SCHEDULE: barrier
  // SCHEDULE: {{^  dispatch}} {{.*}} r %[[PARTS]][0 for 1024]
  // SUM: f32=524288
  func.func @sum(%a: tensor<1048576xf32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<f32>
    %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%a : tensor<1048576xf32>) outs(%begin : tensor<f32>) dimensions = [0]
    return %sum : tensor<f32>
  }

  // A matrix counts as one row; what comes before the reduction stays in its first kernel.
  // SCHEDULE: recording largest_square.0
  // SCHEDULE-COUNT-2: {{^  dispatch}}
  // SCHEDULE-NOT: {{^  dispatch}}
  // LARGEST: i32=9
  func.func @largest_square(%a: tensor<512x1024xi32>) -> tensor<i32> {
    %least = arith.constant -5 : i32
    %empty = tensor.empty() : tensor<i32>
    %begin = linalg.fill ins(%least : i32) outs(%empty : tensor<i32>) -> tensor<i32>
    %squares = arith.muli %a, %a : tensor<512x1024xi32>
    %largest = linalg.reduce { arith.maxsi } ins(%squares : tensor<512x1024xi32>) outs(%begin : tensor<i32>) dimensions = [0, 1]
    return %largest : tensor<i32>
  }

  // SCHEDULE: recording columns.0
  // SCHEDULE-COUNT-2: {{^  dispatch}}
  // SCHEDULE-NOT: {{^  dispatch}}
  // COLUMNS: 4xi32=131072 131072 131072 131072
  func.func @columns(%a: tensor<65536x4xi32>) -> tensor<4xi32> {
    %zero = arith.constant 0 : i32
    %empty = tensor.empty() : tensor<4xi32>
    %begin = linalg.fill ins(%zero : i32) outs(%empty : tensor<4xi32>) -> tensor<4xi32>
    %sums = linalg.reduce { arith.addi } ins(%a : tensor<65536x4xi32>) outs(%begin : tensor<4xi32>) dimensions = [0]
    return %sums : tensor<4xi32>
  }

  // A prime number of elements has no equal parts.
  // SCHEDULE: recording odd.0
  // SCHEDULE-COUNT-1: {{^  dispatch}}
  // SCHEDULE-NOT: {{^  dispatch}}
  // ODD: i32=131071
  func.func @odd(%a: tensor<131071xi32>) -> tensor<i32> {
    %zero = arith.constant 0 : i32
    %empty = tensor.empty() : tensor<i32>
    %begin = linalg.fill ins(%zero : i32) outs(%empty : tensor<i32>) -> tensor<i32>
    %sum = linalg.reduce { arith.addi } ins(%a : tensor<131071xi32>) outs(%begin : tensor<i32>) dimensions = [0]
    return %sum : tensor<i32>
  }
}
