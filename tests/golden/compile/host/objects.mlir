// Lists and host bytes: every element type there and back, sizes, copies, comparisons; a missing element traps.
// RUN: baton-opt %s | baton-opt | FileCheck --check-prefix=TEXT %s
// RUN: baton-compile --execution-model=host-only %s -o %t.bvm
// RUN: baton-run-module %t.bvm --function=list --input=-5 | FileCheck --check-prefix=LIST %s
// RUN: baton-run-module %t.bvm --function=variants --input=7 | FileCheck --check-prefix=VARIANTS %s
// RUN: baton-run-module %t.bvm --function=bytes --input=-2 | FileCheck --check-prefix=BYTES %s
// RUN: baton-run-module %t.bvm --function=compare | FileCheck --check-prefix=COMPARE %s
// RUN: not baton-run-module %t.bvm --function=missing 2>&1 | FileCheck --check-prefix=MISSING %s

// TEXT: util.list.create %{{.*}} : !util.list<i8>
// TEXT: util.list.set %{{.*}}[%{{.*}}], %{{.*}} : !util.list<i8>
// TEXT: util.list.get %{{.*}}[%{{.*}}] : !util.list<i8>
// LIST: result[0]: i64=3
// LIST-NEXT: result[1]: i32=-5
// LIST-NEXT: result[2]: i64=3
func.func @list(%x: i8) -> (index, i8, index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %list = util.list.create %c4 : !util.list<i8>
  util.list.resize %list, %c3 : !util.list<i8>
  util.list.set %list[%c0], %x : !util.list<i8>
  %size = util.list.size %list : !util.list<i8>
  %y = util.list.get %list[%c0] : !util.list<i8>
  %inner = util.list.create : !util.list<!util.list<i8>>
  util.list.resize %inner, %c4 : !util.list<!util.list<i8>>
  util.list.set %inner[%c3], %list : !util.list<!util.list<i8>>
  %same = util.list.get %inner[%c3] : !util.list<!util.list<i8>>
  %again = util.list.size %same : !util.list<i8>
  return %size, %y, %again : index, i8, index
}

// TEXT: util.list.set %{{.*}}[%{{.*}}], %{{.*}} : f32 -> !util.list<?>
// TEXT: util.list.get %{{.*}}[%{{.*}}] : !util.list<?> -> f32
// VARIANTS: result[0]: f32=1.5
// VARIANTS-NEXT: result[1]: i64=7
// VARIANTS-NEXT: result[2]: i32=1
// VARIANTS-NEXT: result[3]: f64=1.5
func.func @variants(%x: i64) -> (f32, i64, i1, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.5 : f32
  %h = arith.constant 1.5 : f16
  %true = arith.constant true
  %list = util.list.create : !util.list<?>
  util.list.resize %list, %c4 : !util.list<?>
  util.list.set %list[%c0], %f : f32 -> !util.list<?>
  util.list.set %list[%c1], %x : i64 -> !util.list<?>
  util.list.set %list[%c2], %true : i1 -> !util.list<?>
  util.list.set %list[%c3], %h : f16 -> !util.list<?>
  %a = util.list.get %list[%c0] : !util.list<?> -> f32
  %b = util.list.get %list[%c1] : !util.list<?> -> i64
  %c = util.list.get %list[%c2] : !util.list<?> -> i1
  %d = util.list.get %list[%c3] : !util.list<?> -> f16
  %wide = arith.extf %d : f16 to f64
  return %a, %b, %c, %wide : f32, i64, i1, f64
}

// BYTES: result[0]: i64=16
// BYTES-NEXT: result[1]: i32=-2
// BYTES-NEXT: result[2]: i32=254
// BYTES-NEXT: result[3]: f32=2.5
// BYTES-NEXT: result[4]: i64=770
// BYTES-NEXT: result[5]: f32=0.5
func.func @bytes(%x: i8) -> (index, i8, i32, f32, index, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %f = arith.constant 2.5 : f32
  %h = arith.constant 0.5 : bf16
  %b = util.buffer.alloc uninitialized : !util.buffer{%c16}
  %zero = arith.constant 0 : i32
  util.buffer.fill %zero, %b[%c0 for %c16] : i32 -> !util.buffer{%c16}
  util.buffer.store %x, %b[%c0 for %c1] : i8 -> !util.buffer{%c16}
  util.buffer.store %f, %b[%c4 for %c4] : f32 -> !util.buffer{%c16}
  util.buffer.store %h, %b[%c12 for %c2] : bf16 -> !util.buffer{%c16}
  %some = util.buffer.constant : !util.buffer = dense<[2, 3]> : tensor<2xi8>
  util.buffer.copy %some[%c0], %b[%c8], %c2 : !util.buffer{%c2} -> !util.buffer{%c16}
  %size = util.buffer.size %b : !util.buffer
  %y = util.buffer.load %b[%c0 for %c1] : !util.buffer{%c16} -> i8
  %w = util.buffer.load %b[%c0 for %c4] : !util.buffer{%c16} -> i32
  %g = util.buffer.load %b[%c4 for %c4] : !util.buffer{%c16} -> f32
  %slice = util.buffer.slice %b[%c8] : !util.buffer{%c16} -> !util.buffer{%c8}
  %i = util.buffer.load %slice[%c0 for %c2] : !util.buffer{%c8} -> i16
  %n = arith.index_cast %i : i16 to index
  %k = util.buffer.load %b[%c12 for %c2] : !util.buffer{%c16} -> bf16
  %kw = arith.extf %k : bf16 to f32
  return %size, %y, %w, %g, %n, %kw : index, i8, i32, f32, index, f32
}

// COMPARE: result[0]: i32=1
// COMPARE-NEXT: result[1]: i32=0
// COMPARE-NEXT: result[2]: i32=1
func.func @compare() -> (i1, i1, i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = util.buffer.constant : !util.buffer = "abc"
  %b = util.buffer.constant : !util.buffer = "abd"
  %hash = util.buffer.hash %a[%c0 for %c3] : !util.buffer{%c3} -> i64
  %zero = arith.constant 0 : i64
  %hashed = arith.cmpi ne, %hash, %zero : i64
  %same = util.buffer.compare %a[%c0], %b[%c0], %c1 : !util.buffer{%c3}, !util.buffer{%c3}
  %all = util.buffer.compare %a[%c0], %b[%c0], %c3 : !util.buffer{%c3}, !util.buffer{%c3}
  return %same, %all, %hashed : i1, i1, i1
}

// MISSING: index
// MISSING: objects.mlir:[[@LINE+4]]
func.func @missing() -> i32 {
  %c0 = arith.constant 0 : index
  %list = util.list.create : !util.list<i32>
  %x = util.list.get %list[%c0] : !util.list<i32>
  return %x : i32
}
