// Loops over small tensors: one kernel each, where nothing in them is the host's.

// The numbers of a row are one more than their left neighbour's in the row before; 57 turns.
func.func @counted(%first: tensor<6xi32>) -> tensor<6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c57 = arith.constant 57 : index
  %one = arith.constant 1 : i32
  %last = scf.for %i = %c0 to %c57 step %c1 iter_args(%row = %first) -> (tensor<6xi32>) {
    %left = tensor.extract_slice %row[0] [5] [1] : tensor<6xi32> to tensor<5xi32>
    %empty = tensor.empty() : tensor<5xi32>
    %more = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%left : tensor<5xi32>) outs(%empty : tensor<5xi32>) {
    ^bb0(%in: i32, %out: i32):
      %sum = arith.addi %in, %one : i32
      linalg.yield %sum : i32
    } -> tensor<5xi32>
    %next = tensor.insert_slice %more into %row[1] [5] [1] : tensor<5xi32> into tensor<6xi32>
    scf.yield %next : tensor<6xi32>
  }
  return %last : tensor<6xi32>
}

// Two tensors change places in each of nine turns, beside a sum that is a number.
func.func @swapped(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %last:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %a, %y = %b, %sum = %zero) -> (tensor<3xf32>, tensor<3xf32>, f32) {
    %element = tensor.extract %x[%c1] : tensor<3xf32>
    %more = arith.addf %sum, %element : f32
    scf.yield %y, %x, %more : tensor<3xf32>, tensor<3xf32>, f32
  }
  return %last#0, %last#1, %last#2 : tensor<3xf32>, tensor<3xf32>, f32
}

// Nobody knows how many turns: a stretch of them is a dispatch, and the host asks for the next.
func.func @until(%start: tensor<2xi32>, %step: i32, %end: i32) -> (tensor<2xi32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %last:2 = scf.while (%t = %start, %turns = %zero) : (tensor<2xi32>, i32) -> (tensor<2xi32>, i32) {
    %first = tensor.extract %t[%c0] : tensor<2xi32>
    %goes_on = arith.cmpi slt, %first, %end : i32
    scf.condition(%goes_on) %t, %turns : tensor<2xi32>, i32
  } do {
  ^bb0(%t: tensor<2xi32>, %turns: i32):
    %first = tensor.extract %t[%c0] : tensor<2xi32>
    %more = arith.addi %first, %step : i32
    %halfway = tensor.insert %more into %t[%c0] : tensor<2xi32>
    %second = tensor.extract %t[%c1] : tensor<2xi32>
    %less = arith.subi %second, %one : i32
    %next = tensor.insert %less into %halfway[%c1] : tensor<2xi32>
    %count = arith.addi %turns, %one : i32
    scf.yield %next, %count : tensor<2xi32>, i32
  }
  return %last#0, %last#1 : tensor<2xi32>, i32
}

// An index that only the caller knows is the host's to compare.
func.func @index_of_caller(%t: tensor<4xi32>, %at: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%row = %t) -> (tensor<4xi32>) {
    %element = tensor.extract %row[%at] : tensor<4xi32>
    %sum = arith.addi %element, %element : i32
    %next = tensor.insert %sum into %row[%at] : tensor<4xi32>
    scf.yield %next : tensor<4xi32>
  }
  return %last : tensor<4xi32>
}

// A divisor of zero has a result in a kernel (codegen/total_integers.hpp).
func.func @divided(%t: tensor<3xi32>) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%row = %t) -> (tensor<3xi32>) {
    %a = tensor.extract %row[%c0] : tensor<3xi32>
    %b = tensor.extract %row[%c1] : tensor<3xi32>
    %q = arith.divsi %a, %b : i32
    %next = tensor.insert %q into %row[%c2] : tensor<3xi32>
    scf.yield %next : tensor<3xi32>
  }
  return %last : tensor<3xi32>
}

// Each turn goes on with what it was given, doubled, or with a constant, as a branch and as a choice: pointers to memory of
// several kinds. The first element is a number that every thread reads, and then one writes.
func.func @chosen(%t: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %ten = arith.constant 10 : i32
  %fixed = arith.constant dense<[2, 3, 4, 5]> : tensor<4xi32>
  %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%row = %t) -> (tensor<4xi32>) {
    %rest = arith.remui %i, %c2 : index
    %is_odd = arith.cmpi eq, %rest, %c1 : index
    %number = tensor.extract %row[%c0] : tensor<4xi32>
    %branch = scf.if %is_odd -> (tensor<4xi32>) {
      scf.yield %fixed : tensor<4xi32>
    } else {
      %twice = arith.addi %row, %row : tensor<4xi32>
      scf.yield %twice : tensor<4xi32>
    }
    %is_last = arith.cmpi eq, %i, %c5 : index
    %choice = arith.select %is_last, %t, %branch : tensor<4xi32>
    %more = arith.addi %number, %ten : i32
    %head = tensor.extract %choice[%c0] : tensor<4xi32>
    %sum = arith.addi %more, %head : i32
    %next = tensor.insert %sum into %choice[%c0] : tensor<4xi32>
    scf.yield %next : tensor<4xi32>
  }
  return %last : tensor<4xi32>
}

// Loops in a loop; the last one makes no turn. They read what the outer one carries while they write another tensor, so that
// both ways into a loop end in a copy behind which threads wait.
func.func @stays(%arg1: tensor<5x1xi32>, %arg2: index) -> tensor<5x1xi32> {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %1:2 = scf.while (%arg3 = %c0, %arg4 = %arg1) : (index, tensor<5x1xi32>) -> (index, tensor<5x1xi32>) {
    %3 = arith.cmpi slt, %arg3, %arg2 : index
    scf.condition(%3) %arg3, %arg4 : index, tensor<5x1xi32>
  } do {
  ^bb0(%arg3: index, %arg4: tensor<5x1xi32>):
    %3:2 = scf.while (%arg7 = %c0, %arg8 = %arg4) : (index, tensor<5x1xi32>) -> (index, tensor<5x1xi32>) {
      %9 = arith.addi %arg7, %c1 : index
      %10 = arith.remui %9, %c2 : index
      %11 = arith.cmpi eq, %10, %c1 : index
      %12 = arith.cmpi ult, %arg7, %c4 : index
      %13 = arith.andi %12, %11 : i1
      scf.condition(%13) %arg7, %arg8 : index, tensor<5x1xi32>
    } do {
    ^bb0(%arg7: index, %arg8: tensor<5x1xi32>):
      %9 = arith.addi %arg7, %c2 : index
      %r = arith.remui %9, %c5 : index
      %extracted_1 = tensor.extract %arg4[%r, %c0] : tensor<5x1xi32>
      %q11 = arith.andi %extracted_1, %c1_i32 : i32
      %q12 = arith.cmpi eq, %q11, %c0_i32 : i32
      %q13 = arith.select %q12, %arg4, %arg8 : tensor<5x1xi32>
      %15 = arith.addi %q13, %q13 : tensor<5x1xi32>
      %16 = arith.addi %arg7, %c1 : index
      scf.yield %16, %15 : index, tensor<5x1xi32>
    }
    %4:2 = scf.while (%arg7 = %c0, %arg8 = %3#1) : (index, tensor<5x1xi32>) -> (index, tensor<5x1xi32>) {
      %9 = arith.remui %arg7, %c2 : index
      %10 = arith.cmpi eq, %9, %c1 : index
      %11 = arith.cmpi ult, %arg7, %c4 : index
      %12 = arith.andi %11, %10 : i1
      scf.condition(%12) %arg7, %arg8 : index, tensor<5x1xi32>
    } do {
    ^bb0(%arg7: index, %arg8: tensor<5x1xi32>):
      %9 = arith.addi %arg7, %c1 : index
      scf.yield %9, %arg4 : index, tensor<5x1xi32>
    }
    %es = tensor.extract_slice %4#1[4, 0] [1, 1] [1, 1] : tensor<5x1xi32> to tensor<1x1xi32>
    %dd = arith.addi %es, %es : tensor<1x1xi32>
    %is = tensor.insert_slice %dd into %4#1[3, 0] [1, 1] [1, 1] : tensor<1x1xi32> into tensor<5x1xi32>
    %7 = arith.addi %arg3, %c1 : index
    scf.yield %7, %is : index, tensor<5x1xi32>
  }
  return %1#1 : tensor<5x1xi32>
}
