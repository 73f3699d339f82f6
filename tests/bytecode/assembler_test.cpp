// The assembler: every construct of the language survives text → bytes → text → bytes, and errors name place and cure.
#include "bytecode/assembler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bytecode/round_trip.hpp"

namespace baton::bytecode {
namespace {

constexpr std::string_view kEverything = R"(
; Everything that the language has.
module @math version 3
attribute "key" = "value"
type custom.string
import @custom.string.create(blob) -> custom.string
import optional @custom.dprint(custom.string) fallback @_dprint
import @acme.log(i32, (i64, ref)...)
import @acme.v2(i32) version 2
global @counter : i64 = 5
global const @k : f32 = 1.5
global @obj : custom.string
rodata @hello = "text with \n \x00 \" escapes"
rodata @table = i32 [1, 2,
                     -3]
rodata @bits = hex "00ff 10"
  "20"
initializer @init
export func @sum(%n: i32, %out: blob) -> i32 values 9 refs 5 {
  attribute "iree.abi.declaration" = "sum"
  loc "file.mlir":12:3
  const.i32 %v1, 0
  const.i32 %v2, 10
loop:
  add.i32 %v1, %v1, %n
  loc "other.mlir":1:1
  next.i32 %v0, %v2, loop
  move %v3, %v1
  ref.copy %r1, %out
  call @helper, %v3, %r2
  call.import @custom.string.create, %v3, %r1
  const.i32 %v3, 7
  const.i64 %v4, -7
  ref.null %r1
  call.variadic @acme.log, %v3, %r1, [1]
  br.table %v1, [a, b, c]
a:
  fail invalid_argument, @hello
b: fail 13, @hello
c:
  ref.is %v0, %out, custom.string
  global.get %v5, @counter
  const.f32 %v6, 1.5
  const.f64 %v6, -inf
  const.f32 %v6, nan
  const.f32 %v6, 0x7fc00001
  const.i64.wide %v6, 0x123456789abc
  return.value %v1
}
func @helper() { return }
export("other", "alias") func @h2(i32) -> (i32, blob) { ref.null %r0
 return }
func @_dprint(custom.string) { return }
func @init() { return }
)";

using testing::HasSubstr;

TEST(Assembler, EverythingRoundTrips) {
  const auto bytes = assemble(kEverything);
  ASSERT_TRUE(bytes) << bytes.error().message();
  const std::string printed = text_of(*bytes);
  const auto again = assemble(printed);
  ASSERT_TRUE(again) << again.error().message() << "\n" << printed;
  EXPECT_EQ(*again, *bytes) << printed;
}

// `body` in a function with the arguments (%n: i32, %o: blob) and things to name.
std::string in_function(std::string_view body) {
  return text(
      "module @m\nimport @a.log(i32)\nglobal @count : i32\nrodata @text = \"x\"\nfunc @other(i64) { return }\n"
      "func @f(%n: i32, %o: blob) {\n",
      body, "\n  return\n}\n");
}

TEST(Assembler, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"  ad.i32 %v0, %v0, %v0", "in:7:3: No instruction is called 'ad.i32'; did you mean 'add.i32'"},
      {"  add.i32 %v0, %r0, %v0", "in:7:16: '%r0' is not a value register."},
      {"  add.i32 %v0, %o, %v0", "in:7:16: '%o' is not a value register."},
      {"  ref.copy %r1, %n", "in:7:17: '%n' is not a reference register."},
      {"  add.i32 %v0, %m, %v0", "in:7:16: '%m' is neither a register"},
      {"  add.i32 %v0, %v65536, %v0", "in:7:16: '%v65536' is neither a register"},
      {"  add.i32 %v0, %v0", "in:7:19: Expected ',', not the end of the line."},
      {"  add.i32 %v0, %v0, %v0, %v0", "in:7:24: Expected the end of the line, not ','."},
      {"  const.i64 %v0, 5000000000",
       "in:7:18: '5000000000' does not fit a constant of 32 bits (-2147483648 to 2147483647); use const.i64.wide."},
      {"  const.i64 %v0, 0xffffffff", "use const.i64.wide"},
      {"  const.i32 %v0, 5000000000", "does not fit a constant of 32 bits (-2147483648 to 4294967295)."},
      {"  const.i32 %v0, 1.5", "in:7:18: '1.5' is not an integer."},
      {"  const.f32 %v0, 1e99", "in:7:18: '1e99' is not an f32, or out of its range."},
      {"  add.imm.i32 %v0, %v0, 32768", "does not fit a constant of 16 bits (-32768 to 32767)."},
      {"  br nowhere", "in:7:6: The function has no label 'nowhere'."},
      {"loop:\n  br lop", "in:8:6: The function has no label 'lop'; did you mean 'loop'?"},
      {"a:\n  nop\na:", "in:9:1: Line 7 has the label 'a' too."},
      {"  call @oter, %v0, %r0", "in:7:8: No function is called @oter; did you mean 'other'?"},
      {"  call @a.log, %v0, %r0", "in:7:8: No function is called @a.log."},
      {"  call.import @other, %v0, %r0", "No import is called @other."},
      {"  global.get %v0, @conut", "No global is called @conut; did you mean 'count'?"},
      {"  fail invalid_argumet, @text", "No status code is called 'invalid_argumet'; did you mean 'invalid_argument'?"},
      {"  fail internal, @txt", "No rodata is called @txt; did you mean 'text'?"},
      {"  ref.is %v0, %o, i32", "in:7:19: Expected a type's name, not 'i32'."},
      {"  loc file:1:2", "in:7:7: Expected a file's name in quotes, not 'file'."},
      {"  nop \"unended", "in:7:7: The string does not end on this line."},
      {"  attribute \"key\" = \"\\q\"", "The string has an unknown escape"},
      {"  nop ?", "in:7:7: Nothing begins with \"?\"."},
  };
  for (const auto& [body, sentence] : cases) EXPECT_THAT(errors_of(in_function(body)), HasSubstr(sentence)) << body;
}

TEST(Assembler, SaysWhatIsWrongWithDirectives) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "The text has no 'module' directive."},
      {"module @m\nmodule @m", "in:2:1: The text has a second 'module' directive."},
      {"module @m\nglobl @x : i32", "in:2:1: No directive begins with 'globl'; did you mean 'global'?"},
      {"module @m\nglobal @x : blob = 5", "in:2:18: A reference global begins null and takes no initial value."},
      {"module @m\nglobal @x : i32\nglobal @x : i64", "in:3:8: Line 2 declares the global @x too."},
      {"module @m\nfunc @f(%v1: i32) { return }", "The argument '%v1' arrives in %v0"},
      {"module @m\nfunc @f(%a: i32, %a: i32) { return }", "Two arguments are called '%a'."},
      {"module @m\nfunc @f() { return", "The last function has no '}'."},
      {"module @m\nrodata @x = hex \"abc\"", "Bytes in hexadecimal are pairs of digits."},
      {"module @m\nrodata @x = i8 [128, 256]", "'256' does not fit an element of 1 bytes (-128 to 255)."},
      {"module @m\ninitializer @int\nfunc @init() { return }", "No function is called @int; did you mean 'init'?"},
      {"module @m\nimport optional @a.b() fallback @c", "No function is called @c."},
      {"module @m }", "in:1:11: Expected the end of the line, not '}'."},
  };
  for (const auto& [source, sentence] : cases) EXPECT_THAT(errors_of(source), HasSubstr(sentence)) << source;
}

TEST(Assembler, FindsAllErrorsInOneGo) {
  const std::string errors = errors_of(
      "module @m version x\n"
      "global @g : i32 = y\n"
      "func @f(i32 {\n"
      "  bad\n"
      "}\n"
      "func @g() {\n"
      "  bad %v0\n"
      "  call @f, %v0, %r0\n"
      "  global.get %v0, @g\n"
      "  add.i32 %v0, %r0, %v0\n"
      "}\n");
  EXPECT_EQ(errors,
            "in:1:19: Expected a version, not 'x'.\n"
            "in:2:19: Expected an i32 number, not 'y'.\n"
            "in:3:13: Expected ',', not '{'.\n"
            "in:7:3: No instruction is called 'bad'; did you mean 'br'?\n"
            "in:10:16: '%r0' is not a value register.");
}

// A frame covers the registers that are named, the function's own arguments and results, and what calls move.
TEST(Assembler, ComputesFrames) {
  const std::string printed = reprinted(
      "module @m\nimport @a.log(i32, (i64, ref)...) -> i64\n"
      "func @callee(i32, blob) -> (i32, i32, i32) { move %v1, %v0\n move %v2, %v0\n return }\n"
      "func @caller(%n: i32, %o: blob) {\n"
      "  move %v4, %n\n  ref.copy %r2, %o\n  call @callee, %v4, %r2\n"
      "  move %v8, %n\n  const.i64 %v9, 1\n  const.i64 %v10, 2\n  ref.copy %r3, %o\n  ref.copy %r4, %o\n"
      "  call.variadic @a.log, %v8, %r3, [2]\n  return\n}\n"
      "func @nothing() { return }\n");
  EXPECT_THAT(printed, HasSubstr("func @callee(i32, blob) -> (i32, i32, i32) values 3 refs 1 {"));
  EXPECT_THAT(printed, HasSubstr("func @caller(i32, blob) values 11 refs 5 {"));
  EXPECT_THAT(printed, HasSubstr("func @nothing() values 0 refs 0 {"));
}

TEST(Assembler, RecordsItsOwnLinesOnRequest) {
  const std::string printed =
      reprinted("module @m\nfunc @f() {\n  nop\n  return\n}\n", {.file_name = "in.bvmasm", .record_locations = true});
  EXPECT_THAT(printed, HasSubstr("loc \"in.bvmasm\":3:3\n  nop\n  loc \"in.bvmasm\":4:3\n  return\n"));
}

TEST(Assembler, StripsTheDebugTableOnRequest) {
  EXPECT_THAT(reprinted("module @m\nfunc @f() { return }\n", {.strip_debug = true}), HasSubstr("stripped\n"));
}

// A fused branch across a function of more than 40000 words comes back as the branch, a `br` over, and a `br` there.
TEST(Assembler, FarBranchesRoundTrip) {
  std::string source = "module @m\nfunc @f(%a: i32, %b: i32) {\nstart:\n  br.eq.i32 %a, %b, end\n";
  for (int i = 0; i < 41000; ++i) source += "  move %v0, %v1\n";
  source += "  br.eq.i32 %a, %b, start\nend: return\n}\n";
  const auto bytes = assemble(source);
  ASSERT_TRUE(bytes) << bytes.error().message();
  const std::string printed = text_of(*bytes);
  EXPECT_THAT(printed.substr(0, 200), HasSubstr("  br.eq.i32 %v0, %v1, L2\n  br L3\nL2:\n  br L41006\nL3:\n"));
  EXPECT_EQ(*assemble(printed), *bytes);
}

}  // namespace
}  // namespace baton::bytecode
