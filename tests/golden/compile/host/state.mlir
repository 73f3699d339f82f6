// Globals keep their values from call to call; initializers run once, in the order of the file.
// RUN: baton-compile %s -o %t.bvm && baton-run-module --module=%t.bvm --function=count --function=count --function=get_bytes | FileCheck %s
// RUN: baton-dump-module %t.bvm | FileCheck --check-prefix=CODE %s

// CODE-DAG: global @counter : i32 = 5
// CODE-DAG: global @bytes : blob
util.global private mutable @counter = 5 : i32
util.global private @bytes : !util.buffer
util.initializer {
  %text = util.buffer.constant : !util.buffer = "abc"
  util.global.store %text, @bytes : !util.buffer
  util.return
}
util.initializer {
  %counter = util.global.load @counter : i32
  %hundred = arith.constant 100 : i32
  %more = arith.addi %counter, %hundred : i32
  util.global.store %more, @counter : i32
  util.return
}

// CHECK: EXEC @count
// CHECK-NEXT: i32=106
// CHECK: EXEC @count
// CHECK-NEXT: i32=107
func.func @count() -> i32 {
  %counter = util.global.load @counter : i32
  %one = arith.constant 1 : i32
  %next = arith.addi %counter, %one : i32
  util.global.store %next, @counter : i32
  return %next : i32
}
// CHECK: EXEC @get_bytes
// CHECK-NEXT: blob (3 bytes)
func.func @get_bytes() -> !util.buffer {
  %text = util.global.load @bytes : !util.buffer
  return %text : !util.buffer
}
