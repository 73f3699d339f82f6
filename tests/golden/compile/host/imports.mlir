// Body-less functions with a dot in their name are imports; attributes say signature, version and fallback. References are
// consumed by their last call and lent to the others; equal constants share a segment; what nobody uses is left out.
// RUN: baton-compile --execution-model=host-only %s | baton-dump-module | FileCheck %s

// CHECK: module @example version 0
module @example {
  // CHECK-DAG: import @custom.string.create(blob) -> custom.string
  func.func private @custom.string.create(!util.buffer) -> !custom.string
  // CHECK-DAG: import @custom.string.length(custom.string) -> i64
  func.func private @custom.string.length(!custom.string) -> index attributes {vm.signature = (!vm.ref<!custom.string>) -> i64}
  // CHECK-DAG: import @custom.string.print(custom.string) version 3
  func.func private @custom.string.print(!custom.string) attributes {vm.version = 3 : i32}
  // CHECK-DAG: import optional @custom.string.dprint(custom.string) fallback @print_optimized
  func.func private @custom.string.dprint(!custom.string) attributes {vm.fallback = @print_optimized}
  // CHECK-DAG: import @custom.narrow(i32) -> i32
  func.func private @custom.narrow(i32) -> i64 attributes {vm.signature = (i32) -> i32}
  // CHECK-NOT: unused
  func.func private @custom.unused(i32)
  func.func private @custom.pure(i32) -> i32 attributes {nosideeffects}

  // CHECK: rodata @"" = "optimized"
  // CHECK-NEXT: rodata @""#1 = "hello"
  // CHECK-NOT: rodata

  // CHECK: func @print_optimized(custom.string)
  func.func private @print_optimized(%unused: !custom.string) {
    %text = util.buffer.constant : !util.buffer = "optimized"
    %string = call @custom.string.create(%text) : (!util.buffer) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    return
  }

  // CHECK: export func @main() -> (i64, i64) values 2 refs 2 {
  // CHECK: rodata %r0, @""#1
  // CHECK: call.import @custom.string.create, %v0, %r0
  // CHECK: call.lend @custom.string.print, %v0, %r1, [%r0]
  // CHECK: call.import @custom.string.length, %v0, %r0
  // CHECK: rodata %r0, @""#1
  // CHECK: call.import @custom.string.create
  // CHECK: call.import @custom.string.dprint
  // CHECK: const.i32 %v1, 5
  // CHECK: call.import @custom.narrow, %v1, %r0
  // CHECK: extend.s.i64.i32 %v1, %v1
  // CHECK: return
  func.func @main() -> (index, i64) {
    %five = arith.constant 5 : i32
    %ignored = call @custom.pure(%five) : (i32) -> i32
    %text = util.buffer.constant : !util.buffer = "hello"
    %string = call @custom.string.create(%text) : (!util.buffer) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    %length = call @custom.string.length(%string) : (!custom.string) -> index
    %again = util.buffer.constant : !util.buffer = dense<[104, 101, 108, 108, 111]> : tensor<5xi8>
    %second = call @custom.string.create(%again) : (!util.buffer) -> !custom.string
    call @custom.string.dprint(%second) : (!custom.string) -> ()
    %wide = call @custom.narrow(%five) : (i32) -> i64
    return %length, %wide : index, i64
  }
}
