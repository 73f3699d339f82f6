// flow's collectives and channels on two ranks: all of them, groups by color, sizes that aren't known; and alone.
// RUN: baton-compile %s --target-device=local -o %t.bvm
// RUN: %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module %t.bvm --device=local-task --function=all --input=2x2xf32={rank} "@0:--input=4xi32=1 2 3 4" "@1:--input=4xi32=4 3 2 1" | FileCheck %s --check-prefix=ALL --match-full-lines
// RUN: %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module %t.bvm --device=local-task --function=groups --input=2xi32={rank} --input={rank} | FileCheck %s --check-prefix=GROUPS --match-full-lines
// RUN: %{python} %S/../../../support/run_ranks.py 4 file:%t.ranks baton-run-module %t.bvm --device=local-sync --function=halves --input=2xi32={rank} | FileCheck %s --check-prefix=HALVES --match-full-lines
// RUN: %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module %t.bvm --device=local-task --function=again --input=2xi32={rank} | FileCheck %s --check-prefix=AGAIN --match-full-lines
// RUN: not %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module %t.bvm --device=local-task --function=groups --input=2xi32={rank} @0:--input=0 @1:--input=-1 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: baton-run-module %t.bvm --device=local-task --function=groups --input=2xi32=5 --input=3 | FileCheck %s --check-prefix=ALONE --match-full-lines
// RUN: %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module %t.bvm --device=local-task --function=named --input=2xi32={rank} | FileCheck %s --check-prefix=NAMED --match-full-lines
// RUN: baton-run-module %t.bvm --device=local-task --function=named --input=2xi32=7 | FileCheck %s --check-prefix=NAMED_ALONE --match-full-lines

// ALL: 2x2xf32=[1 1][1 1]
// ALL: 2x2xf32=[0.5 0.5][0.5 0.5]
// ALL: 8xi32=1 2 3 4 4 3 2 1
// ALL: 2xi32=4 3
// ALL: 4xi32=4 3 2 1
// ALL: 4xi32=1 2 4 3
// ALL-NEXT: result[6]: i64=0
// ALL-NEXT: result[7]: i64=2
// ALL: 2x2xf32=[1 1][1 1]
// ALL: 8xi32=1 2 3 4 4 3 2 1
// ALL: 2xi32=3 4
// ALL: 4xi32=1 2 3 4
// ALL: 4xi32=3 4 2 1
// ALL-NEXT: result[6]: i64=1
// ALL-NEXT: result[7]: i64=2
func.func @all(%x: tensor<?x2xf32>, %i: tensor<4xi32>)
    -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<8xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>, index, index) {
  %all = flow.channel.default : !flow.channel
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %like_x = tensor.empty(%n) : tensor<?x2xf32>
  %sum = flow.collective.all_reduce sum, f32, %like_x, %x, %all
      : (tensor<?x2xf32>, tensor<?x2xf32>, !flow.channel) -> %like_x as tensor<?x2xf32>{%n}
  %mean = flow.collective.all_reduce average, f32, %like_x, %x, %all
      : (tensor<?x2xf32>, tensor<?x2xf32>, !flow.channel) -> %like_x as tensor<?x2xf32>{%n}
  %eight = tensor.empty() : tensor<8xi32>
  %gathered = flow.collective.all_gather si32, %eight, %i, %all
      : (tensor<8xi32>, tensor<4xi32>, !flow.channel) -> %eight as tensor<8xi32>
  %two = tensor.empty() : tensor<2xi32>
  %part = flow.collective.reduce_scatter maximum, si32, %two, %i, %all
      : (tensor<2xi32>, tensor<4xi32>, !flow.channel) -> %two as tensor<2xi32>
  %rank = flow.channel.rank %all : index
  %count = flow.channel.count %all : index
  %other = arith.subi %c1, %rank : index
  %four = tensor.empty() : tensor<4xi32>
  %swapped = flow.collective.send_recv i32, %four, %i, %all, %other, %other
      : (tensor<4xi32>, tensor<4xi32>, !flow.channel, index, index) -> %four as tensor<4xi32>
  %shared = flow.collective.all_to_all ui32, %four, %i, %all
      : (tensor<4xi32>, tensor<4xi32>, !flow.channel) -> %four as tensor<4xi32>
  return %sum, %mean, %gathered, %part, %swapped, %shared, %rank, %count
      : tensor<?x2xf32>, tensor<?x2xf32>, tensor<8xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>, index, index
}

// Each rank a group of its own: nothing is added.
// GROUPS: 2xi32=0 0
// GROUPS-NEXT: result[1]: i64=0
// GROUPS-NEXT: result[2]: i64=1
// GROUPS: 2xi32=1 1
// GROUPS-NEXT: result[1]: i64=0
// GROUPS-NEXT: result[2]: i64=1
// ALONE: 2xi32=5 5
// NOBODY: Rank 1 of 2 is in no group of the number -1.
func.func @groups(%x: tensor<2xi32>, %color: i32) -> (tensor<2xi32>, index, index) {
  %all = flow.channel.default : !flow.channel
  %c0 = arith.constant 0 : index
  %of = arith.index_cast %color : i32 to index
  %group = flow.channel.split %all, %of, %c0 : !flow.channel -> !flow.channel
  %like = tensor.empty() : tensor<2xi32>
  %sum = flow.collective.all_reduce sum, i32, %like, %x, %group
      : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %like as tensor<2xi32>
  %rank = flow.channel.rank %group : index
  %count = flow.channel.count %group : index
  return %sum, %rank, %count : tensor<2xi32>, index, index
}

// Ranks 0 and 1, 2 and 3, each the other way round; then 0 and 2, 1 and 3; then all.
// HALVES: 4xi32=1 1 0 0
// HALVES: 2xi32=2 2
// HALVES: 2xi32=6 6
// HALVES: 4xi32=1 1 0 0
// HALVES: 2xi32=4 4
// HALVES: 2xi32=6 6
// HALVES: 4xi32=3 3 2 2
// HALVES: 2xi32=2 2
// HALVES: 2xi32=6 6
// HALVES: 4xi32=3 3 2 2
// HALVES: 2xi32=4 4
// HALVES: 2xi32=6 6
func.func @halves(%x: tensor<2xi32>) -> (tensor<4xi32>, tensor<2xi32>, tensor<2xi32>) {
  %all = flow.channel.default : !flow.channel
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rank = flow.channel.rank %all : index
  %half = arith.divui %rank, %c2 : index
  %side = arith.remui %rank, %c2 : index
  %backward = arith.subi %c0, %rank : index
  %row = flow.channel.split %all, %half, %backward : !flow.channel -> !flow.channel
  %column = flow.channel.split %all, %side, %c0 : !flow.channel -> !flow.channel
  %four = tensor.empty() : tensor<4xi32>
  %two = tensor.empty() : tensor<2xi32>
  %gathered = flow.collective.all_gather i32, %four, %x, %row
      : (tensor<4xi32>, tensor<2xi32>, !flow.channel) -> %four as tensor<4xi32>
  %sum = flow.collective.all_reduce sum, i32, %two, %x, %column
      : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %two as tensor<2xi32>
  %total = flow.collective.all_reduce sum, i32, %two, %x, %all
      : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %two as tensor<2xi32>
  return %gathered, %sum, %total : tensor<4xi32>, tensor<2xi32>, tensor<2xi32>
}

// What a place has split it has again.
// AGAIN: 2xi32=8 8
// AGAIN: 2xi32=8 8
func.func @again(%x: tensor<2xi32>) -> tensor<2xi32> {
  %all = flow.channel.default : !flow.channel
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %like = tensor.empty() : tensor<2xi32>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %x) -> tensor<2xi32> {
    %both = flow.channel.split %all, %c0, %c0 : !flow.channel -> !flow.channel
    %next = flow.collective.all_reduce sum, i32, %like, %sum, %both
        : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %like as tensor<2xi32>
    scf.yield %next : tensor<2xi32>
  }
  return %last : tensor<2xi32>
}

// A channel with a name has all ranks, too, and is split like the one without: by the same name it is the same, also in a loop.
// NAMED: 2xi32=8 8
// NAMED: 4xi32=0 0 1 1
// NAMED: 2xi32=0 0
// NAMED-NEXT: result[3]: i64=0
// NAMED-NEXT: result[4]: i64=2
// NAMED: 2xi32=8 8
// NAMED: 4xi32=0 0 1 1
// NAMED: 2xi32=1 1
// NAMED-NEXT: result[3]: i64=1
// NAMED-NEXT: result[4]: i64=2
// NAMED_ALONE: 2xi32=7 7
// NAMED_ALONE: 2xi32=7 7
// NAMED_ALONE: 2xi32=7 7
// NAMED_ALONE-NEXT: result[3]: i64=0
// NAMED_ALONE-NEXT: result[4]: i64=1
func.func @named(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<?xi32>, tensor<2xi32>, index, index) {
  %pair = flow.channel.default "pair" : !flow.channel
  %other = flow.channel.default "another" : !flow.channel
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %like = tensor.empty() : tensor<2xi32>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %x) -> tensor<2xi32> {
    %again = flow.channel.default "pair" : !flow.channel
    %next = flow.collective.all_reduce sum, i32, %like, %sum, %again
        : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %like as tensor<2xi32>
    scf.yield %next : tensor<2xi32>
  }
  %rank = flow.channel.rank %pair : index
  %count = flow.channel.count %other : index
  %n = arith.muli %count, %c2 : index
  %all = tensor.empty(%n) : tensor<?xi32>
  %gathered = flow.collective.all_gather i32, %all, %x, %other
      : (tensor<?xi32>, tensor<2xi32>, !flow.channel) -> %all as tensor<?xi32>{%n}
  %alone = flow.channel.split %pair, %rank, %c0 : !flow.channel -> !flow.channel
  %own = flow.collective.all_reduce sum, i32, %like, %x, %alone
      : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %like as tensor<2xi32>
  return %last, %gathered, %own, %rank, %count : tensor<2xi32>, tensor<?xi32>, tensor<2xi32>, index, index
}
