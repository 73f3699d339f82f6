// Loops over small tensors, by what their conditions read and hand on.

#each = affine_map<(d0) -> (d0)>

// The condition reads a flag that the turns don't, and hands the others on in another order.
func.func @flagged(%start: tensor<3xf32>) -> (i32, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %true = arith.constant true
  %limit = arith.constant 100.0 : f32
  %two = arith.constant 2.0 : f32
  %no = arith.constant dense<false> : tensor<i1>
  %last:2 = scf.while (%over = %no, %t = %start, %turns = %c0_i32) : (tensor<i1>, tensor<3xf32>, i32) -> (i32, tensor<3xf32>) {
    %is_over = tensor.extract %over[] : tensor<i1>
    %goes_on = arith.xori %is_over, %true : i1
    scf.condition(%goes_on) %turns, %t : i32, tensor<3xf32>
  } do {
  ^bb0(%turns: i32, %t: tensor<3xf32>):
    %empty = tensor.empty() : tensor<3xf32>
    %double = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%t : tensor<3xf32>) outs(%empty : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %product = arith.mulf %in, %two : f32
      linalg.yield %product : f32
    } -> tensor<3xf32>
    %first = tensor.extract %double[%c0] : tensor<3xf32>
    %above = arith.cmpf ogt, %first, %limit : f32
    %flag = tensor.from_elements %above : tensor<i1>
    %count = arith.addi %turns, %c1_i32 : i32
    scf.yield %flag, %double, %count : tensor<i1>, tensor<3xf32>, i32
  }
  return %last#0, %last#1 : i32, tensor<3xf32>
}

// What is handed on is a number that the condition computed.
func.func @computed(%start: tensor<2xi32>) -> (tensor<2xi32>, i32) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c2_i32 = arith.constant 2 : i32
  %c10_i32 = arith.constant 10 : i32
  %last:2 = scf.while (%n = %c0_i32, %t = %start) : (i32, tensor<2xi32>) -> (tensor<2xi32>, i32) {
    %twice = arith.muli %n, %c2_i32 : i32
    %goes_on = arith.cmpi slt, %twice, %c10_i32 : i32
    scf.condition(%goes_on) %t, %twice : tensor<2xi32>, i32
  } do {
  ^bb0(%t: tensor<2xi32>, %twice: i32):
    %empty = tensor.empty() : tensor<2xi32>
    %sum = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%t : tensor<2xi32>) outs(%empty : tensor<2xi32>) {
    ^bb0(%in: i32, %out: i32):
      %more = arith.addi %in, %twice : i32
      linalg.yield %more : i32
    } -> tensor<2xi32>
    %half = arith.divsi %twice, %c2_i32 : i32
    %next = arith.addi %half, %c1_i32 : i32
    scf.yield %next, %sum : i32, tensor<2xi32>
  }
  return %last#0, %last#1 : tensor<2xi32>, i32
}

// A tensor that the condition computed is handed on: the host goes on asking.
func.func @computed_tensor(%start: tensor<2xi32>) -> tensor<2xi32> {
  %c0 = arith.constant 0 : index
  %c1_i32 = arith.constant 1 : i32
  %c10_i32 = arith.constant 10 : i32
  %last = scf.while (%t = %start) : (tensor<2xi32>) -> tensor<2xi32> {
    %empty = tensor.empty() : tensor<2xi32>
    %next = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%t : tensor<2xi32>) outs(%empty : tensor<2xi32>) {
    ^bb0(%in: i32, %out: i32):
      %more = arith.addi %in, %c1_i32 : i32
      linalg.yield %more : i32
    } -> tensor<2xi32>
    %first = tensor.extract %next[%c0] : tensor<2xi32>
    %goes_on = arith.cmpi slt, %first, %c10_i32 : i32
    scf.condition(%goes_on) %next : tensor<2xi32>
  } do {
  ^bb0(%t: tensor<2xi32>):
    scf.yield %t : tensor<2xi32>
  }
  return %last : tensor<2xi32>
}

// Of the inner loop it is known that it makes four turns at most; the numbers may end it sooner.
func.func @nested(%start: tensor<1xi32>) -> tensor<1xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c4_i32 = arith.constant 4 : i32
  %c10_i32 = arith.constant 10 : i32
  %c12_i32 = arith.constant 12 : i32
  %last = scf.for %turn = %c0 to %c3 step %c1 iter_args(%t = %start) -> (tensor<1xi32>) {
    %inner:2 = scf.while (%i = %c0_i32, %u = %t) : (i32, tensor<1xi32>) -> (i32, tensor<1xi32>) {
      %first = tensor.extract %u[%c0] : tensor<1xi32>
      %is_less = arith.cmpi slt, %first, %c10_i32 : i32
      %is_early = arith.cmpi slt, %i, %c4_i32 : i32
      %goes_on = arith.andi %is_less, %is_early : i1
      scf.condition(%goes_on) %i, %u : i32, tensor<1xi32>
    } do {
    ^bb0(%i: i32, %u: tensor<1xi32>):
      %first = tensor.extract %u[%c0] : tensor<1xi32>
      %twice = arith.addi %first, %first : i32
      %more = arith.addi %twice, %c1_i32 : i32
      %next = tensor.insert %more into %u[%c0] : tensor<1xi32>
      %count = arith.addi %i, %c1_i32 : i32
      scf.yield %count, %next : i32, tensor<1xi32>
    }
    %first = tensor.extract %inner#1[%c0] : tensor<1xi32>
    %less = arith.subi %first, %c12_i32 : i32
    %back = tensor.insert %less into %inner#1[%c0] : tensor<1xi32>
    scf.yield %back : tensor<1xi32>
  }
  return %last : tensor<1xi32>
}
