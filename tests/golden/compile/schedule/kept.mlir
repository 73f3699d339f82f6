// Recordings of the last two sizes are kept: a call that brings the same numbers executes one of them, another records.
// RUN: baton-compile --compile-to=hal %s | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=sizes | FileCheck --check-prefix=SIZES %s
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=sizes | FileCheck --check-prefix=SIZES %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=number --input=2147483647 | FileCheck --check-prefix=FITS %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=number --input=8589934592 2>&1 | FileCheck --check-prefix=LARGE %s

// CHECK: util.global private @kept.numbers.0 : !hal.kept_recordings
// CHECK: util.func private @numbers(%[[N:.*]]: index, %[[SCALE:.*]]: f32)
// CHECK-DAG: %[[BITS:.*]] = arith.bitcast %[[SCALE]] : f32 to i32
// CHECK-DAG: %[[KEPT:.*]] = util.global.load @kept.numbers.0
// CHECK: %[[FOUND:.*]]:2 = vm.call.variadic @hal.kept_recordings.find(%[[KEPT]], {{.*}}) segments([2])
// CHECK: %[[KNOWN:.*]] = arith.cmpi ne, %[[FOUND]]#0
// CHECK: scf.if %[[KNOWN]] -> (!hal.recording) {
// CHECK: scf.yield %[[FOUND]]#1
// CHECK: } else {
// CHECK: hal.command_buffer.create
// CHECK: hal.kept_recordings.keep
// CHECK: hal.queue.execute

// The sizes come back and go away; a number of the same size that differs is another recording.
// SIZES: 3xf32=0 2 4
// SIZES: 3xf32=0 2 4
// SIZES: 5xf32=0 2 4 6 8
// SIZES: 3xf32=0 2 4
// SIZES: 3xf32=-0 -1 -2
// SIZES: 2xf32=0 2
// SIZES: 5xf32=0 2 4 6 8
func.func private @numbers(%n: index, %scale: f32) -> tensor<?xf32> attributes {noinline} {
  %x = tensor.generate %n {
  ^bb0(%i: index):
    %word = arith.index_cast %i : index to i32
    %f = arith.sitofp %word : i32 to f32
    %y = arith.mulf %f, %scale : f32
    tensor.yield %y : f32
  } : tensor<?xf32>
  return %x : tensor<?xf32>
}
func.func @sizes() -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %two = arith.constant 2.0 : f32
  %minus = arith.constant -1.0 : f32
  %a = call @numbers(%c3, %two) : (index, f32) -> tensor<?xf32>
  %b = call @numbers(%c3, %two) : (index, f32) -> tensor<?xf32>
  %c = call @numbers(%c5, %two) : (index, f32) -> tensor<?xf32>
  %d = call @numbers(%c3, %two) : (index, f32) -> tensor<?xf32>
  %e = call @numbers(%c3, %minus) : (index, f32) -> tensor<?xf32>
  %f = call @numbers(%c2, %two) : (index, f32) -> tensor<?xf32>
  %g = call @numbers(%c5, %two) : (index, f32) -> tensor<?xf32>
  return %a, %b, %c, %d, %e, %f, %g : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// FITS: 2xi64=2147483647 2147483647
// LARGE: A number passed to a kernel doesn't fit into its 32 bits: 8589934592.
func.func @number(%k: index) -> tensor<2xi64> {
  %empty = tensor.empty() : tensor<2xi64>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<2xi64>) {
  ^bb0(%out: i64):
    %v = arith.index_cast %k : index to i64
    linalg.yield %v : i64
  } -> tensor<2xi64>
  return %x : tensor<2xi64>
}
