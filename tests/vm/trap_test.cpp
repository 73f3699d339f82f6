// What a trap says: its sentence with the operands' values, where it happened, who called. One case for each kind.
#include "vm/trap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;  // of the kind, and of the test
  const char* body;  // of '@run()'
  const char* trap;  // the whole text but the place
};

constexpr Case kCases[] = {
    {"DivisionByZero", "const.i32 %v0, 5\nconst.i32 %v1, 0\ndiv.s.i32 %v2, %v0, %v1",
     "INVALID_ARGUMENT; division by zero (div.s.i32: 5, 0)"},
    {"DivisionOverflow", "const.i64.wide %v0, -9223372036854775808\nconst.i64 %v1, -1\ndiv.s.i64 %v0, %v0, %v1",
     "OUT_OF_RANGE; division overflows (div.s.i64: -9223372036854775808, -1)"},
    {"NegativePower", "const.i32 %v0, 0\nconst.i32 %v1, -2\npow.i32 %v0, %v0, %v1",
     "INVALID_ARGUMENT; zero raised to a negative power (pow.i32: 0, -2)"},
    {"NullReference", "ref.null %r0\nblob.size %v0, %r0", "INVALID_ARGUMENT; reference is null (blob.size: null)"},
    {"WrongType", "call.import @native.make, %v0, %r0\nref.cast %r0, blob",
     "INVALID_ARGUMENT; reference is of another type (ref.cast: a test.counted, blob)"},
    {"WrongTypeOfList", "const.i64 %v0, 0\nlist.alloc %r0, %v0\nblob.hash %v0, %r0, %v0, %v0",
     "INVALID_ARGUMENT; reference is of another type (blob.hash: a list of 0, 0, 0)"},
    {"BlobRange", "const.i64 %v0, 4\nblob.alloc %r0, %v0\nconst.i64 %v1, 1\nblob.load.i32 %v2, %r0, %v1",
     "OUT_OF_RANGE; access ends beyond the blob (blob.load.i32: a blob of 4 bytes, 1)"},
    {"BlobReadOnly", "const.i64 %v0, 0\nrodata %r0, @why\nblob.store.i8 %v0, %r0, %v0",
     "PERMISSION_DENIED; blob is read-only (blob.store.i8: 0x0, a blob of 7 bytes, 0)"},
    {"FillSize",
     "const.i64 %v0, 8\nblob.alloc %r0, %v0\nconst.i64 %v0, 0\nconst.i64 %v1, 3\nconst.i32 %v2, 9\n"
     "blob.fill.i16 %r0, %v0, %v1, %v2",
     "INVALID_ARGUMENT; fill size is not a multiple of the pattern size (blob.fill.i16: a blob of 8 bytes, 0, 3, 9)"},
    {"TooLarge", "const.i64 %v0, -1\nblob.alloc %r0, %v0",
     "RESOURCE_EXHAUSTED; size is larger than host memory can give (blob.alloc: -1)"},
    {"TooLargeList", "const.i64.wide %v0, 1152921504606846976\nlist.alloc %r0, %v0",
     "RESOURCE_EXHAUSTED; size is larger than host memory can give (list.alloc: 1152921504606846976)"},
    {"ListRange", "const.i64 %v0, 0\nlist.alloc %r0, %v0\nlist.get.i32 %v1, %r0, %v0",
     "OUT_OF_RANGE; index is beyond the list (list.get.i32: a list of 0, 0)"},
    {"ElementType", "const.i64 %v0, 0\nlist.alloc %r0, %v0\nlist.push.i64 %r0, %v0\nlist.get.f32 %v1, %r0, %v0",
     "INVALID_ARGUMENT; list element is of another type (list.get.f32: a list of 1, 0)"},
    {"NotWaitable", "call.import @native.make, %v0, %r0\nawait %v0, %r0",
     "INVALID_ARGUMENT; reference cannot be awaited (await: a test.counted)"},
    {"NullAwait", "ref.null %r0\nawait %v0, %r0", "INVALID_ARGUMENT; reference is null (await: null)"},
    {"UnresolvedImport", "call.import @no.where, %v0, %r0", "UNAVAILABLE; optional import is missing: 'no.where'"},
    {"UnresolvedVariadic", "call.variadic @no.many, %v0, %r0, [0]",
     "UNAVAILABLE; optional import is missing: 'no.many'"},
    {"Fail", "fail data_loss, @why", "DATA_LOSS; because"},
    {"Assert", "const.i32 %v0, 0\nassert %v0, @why", "FAILED_PRECONDITION; because"},
    {"NativeFailed", "ref.null %r0\ncall.import @native.fail, %v0, %r0",
     "UNAVAILABLE; the printer is on fire\n  from import 'native.fail'"},
    {"Floats", "const.f32 %v0, 0.5\nconst.i64 %v1, 0\nlist.alloc %r0, %v1\nref.null %r1\nlist.push.f32 %r1, %v0",
     "INVALID_ARGUMENT; reference is null (list.push.f32: null, 0.5)"},
};

class TrapText : public ::testing::TestWithParam<Case> {};

TEST_P(TrapText, SaysKindOperandsAndPlace) {
  const Ref<Context> context = testing::make_context(
      {testing::make_native_module(), testing::load_text(text(R"(
import @native.make() -> ref
import @native.fail(ref)
import optional @no.where()
import optional @no.many((i32)...)
rodata @why = "because"
export func @run() {
)",
                                                              GetParam().body, "\n  fail internal, @why\n}"))});
  const std::string trap = testing::call_fails(context, "run").to_string();
  EXPECT_THAT(trap, ::testing::StartsWith(text(GetParam().trap, "\n  at test.run, word ")));
}

INSTANTIATE_TEST_SUITE_P(EveryKind, TrapText, ::testing::ValuesIn(kCases),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Trap, NamesSourceLocationsAndCallersAcrossModules) {
  const Ref<Context> context = testing::make_context({testing::load_text(R"(
module @lib
export func @divide(%a: i32, %b: i32) -> i32 {
  loc "lib.mlir":3:5
  div.s.i32 %v0, %a, %b
  return
})"),
                                                      testing::load_text(R"(
module @app
import @lib.divide(i32, i32) -> i32
func @inner(%a: i32) -> i32 {
  loc "app.mlir":10:1
  const.i32 %v1, 0
  loc "app.mlir":11:7
  call.import @lib.divide, %v0, %r0
  return
}
export func @main() -> i32 {
  loc "app.mlir":20:2
  const.i32 %v0, 9
  call @inner, %v0, %r0
  return
})")});
  EXPECT_EQ(testing::call_fails(context, "main").to_string(),
            "INVALID_ARGUMENT; division by zero (div.s.i32: 9, 0)\n"
            "  at lib.divide, word 0 (lib.mlir:3:5)\n"
            "  called from app.inner, word 1 (app.mlir:11:7)\n"
            "  called from app.main, word 1 (app.mlir:20:2)");
}

TEST(Trap, NumbersFunctionsWhoseNamesWereStripped) {
  const Ref<Context> context = testing::make_context(R"(
stripped
rodata @why = "why"
func @first() {
  return
}
export func @run() {
  fail internal, @why
})");
  EXPECT_EQ(testing::call_fails(context, "run").to_string(), "INTERNAL; why\n  at test.function 1, word 0");
}

TEST(Trap, ShortensTheBacktraceOfADeepRecursion) {
  const Ref<Context> context = testing::make_context(R"(
func @recur() {
  call @recur, %v0, %r0
  return
}
export func @run() {
  call @recur, %v0, %r0
  return
})");
  const std::string trap = testing::call_fails(context, "run").to_string();
  EXPECT_THAT(trap, HasSubstr("RESOURCE_EXHAUSTED; call stack is full (2048 frames)\n  at test.recur, word 0\n"));
  EXPECT_THAT(trap, HasSubstr("\n  ... 2032 more ...\n  called from test.recur, word 0\n"));
  EXPECT_THAT(trap, ::testing::EndsWith("called from test.run, word 0"));
  EXPECT_EQ(std::ranges::count(trap, '\n'), 12 + 1 + 4);
}

}  // namespace
}  // namespace baton::vm
