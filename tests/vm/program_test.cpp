// Linking: what binds to what, and every sentence about what does not.
#include "vm/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::load_text;
using testing::make_native_module;

constexpr std::string_view kEmptyBody = "func @f() {\n  return\n}";

// A module that imports `import` and does nothing with it.
Ref<BytecodeModule> importer(std::string_view imports) {
  return load_text(text("module @user\n", imports, "\n", kEmptyBody));
}

std::string link_problems(testing::Modules modules) {
  const auto program = testing::link(modules);
  return program ? "linked" : program.error().to_string();
}

TEST(Program, NamesTheMissingModuleAndThoseThatAreThere) {
  EXPECT_EQ(link_problems({importer("import @custom.print(i32)")}),
            "NOT_FOUND; cannot link:\n  'user' imports 'custom.print', but no module 'custom' is linked before it "
            "(there is none)");
  EXPECT_THAT(link_problems({make_native_module(), load_text(text("module @more\n", kEmptyBody)),
                             importer("import @custom.print(i32)")}),
              HasSubstr("(there are 'native', 'more')"));
}

TEST(Program, SaysOnceThatAModuleIsMissing) {
  EXPECT_EQ(
      link_problems({importer("type custom.string\ntype custom.list\nimport @custom.print(ref)\n"
                              "import optional @custom.perhaps(i32)\nimport @other.f()\nimport @custom.add(i32)\n"
                              "import @custom.sub(i32)")}),
      "NOT_FOUND; cannot link:\n  'user' imports 'custom.print' and 2 more, but no module 'custom' is linked "
      "before it (there is none)\n  'user' imports 'other.f', but no module 'other' is linked before it (there is "
      "none)");
  // The module is there, and the type is none of its.
  EXPECT_THAT(
      link_problems({make_native_module(), importer("type native.nothing\nimport @native.add(i32, i32) -> i32")}),
      HasSubstr("'user' uses the type 'native.nothing', which no module before it provides"));
}

TEST(Program, ModulesAfterTheImporterDoNotCount) {
  EXPECT_THAT(link_problems({importer("import @native.add(i32, i32) -> i32"), make_native_module()}),
              HasSubstr("no module 'native' is linked before it"));
}

TEST(Program, NamesTheMissingFunctionAndTheNearest) {
  EXPECT_THAT(
      link_problems({make_native_module(), importer("import @native.ad(i32, i32) -> i32")}),
      HasSubstr("'user' imports 'native.ad', but module 'native' exports no such function; did you mean 'add'"));
}

TEST(Program, ShowsBothSignatures) {
  EXPECT_EQ(
      link_problems({make_native_module(), importer("import @native.add(i64, i32) -> i32")}),
      "INVALID_ARGUMENT; cannot link:\n  'user' imports 'native.add' as (i64, i32) -> (i32), but it is (i32, i32) -> "
      "(i32)");
}

TEST(Program, ShowsBothVersions) {
  EXPECT_EQ(
      link_problems({make_native_module(), importer("import @native.add(i32, i32) -> i32 version 3")}),
      "FAILED_PRECONDITION; cannot link:\n  'user' imports 'native.add' from version 3 of 'native', but version 2 is "
      "linked");
  EXPECT_EQ(link_problems({make_native_module(), importer("import @native.add(i32, i32) -> i32 version 2")}), "linked");
}

TEST(Program, NamesTheUnknownType) {
  EXPECT_EQ(
      link_problems({importer("type custom.string")}),
      "NOT_FOUND; cannot link:\n  'user' uses the type 'custom.string', which no module before it provides (there is "
      "none)");
  EXPECT_EQ(link_problems({make_native_module(), importer("type test.counted\ntype blob\ntype list")}), "linked");
}

TEST(Program, RefusesTwoModulesOfOneName) {
  EXPECT_EQ(link_problems({make_native_module(), make_native_module()}),
            "ALREADY_EXISTS; cannot link:\n  two modules are called 'native'");
}

TEST(Program, ReportsAllFailuresInOneMessage) {
  const std::string problems =
      link_problems({make_native_module(), make_native_module(),
                     importer("type nowhere\nimport @a.b()\nimport @native.addd(i32)\n"
                              "import @native.add(i32)\nimport @native.make() -> ref version 9")});
  for (const char* part : {"two modules are called 'native'", "'nowhere'", "'a.b'", "'native.addd'",
                           "'native.add' as (i32)", "from version 9"}) {
    EXPECT_THAT(problems, HasSubstr(part));
  }
  EXPECT_EQ(std::ranges::count(problems, '\n'), 6);
}

TEST(Program, OptionalImportsMayBeMissingButMustFit) {
  EXPECT_EQ(link_problems({importer("import optional @no.where()")}), "linked");
  EXPECT_EQ(link_problems({make_native_module(), importer("import optional @native.nothing()")}), "linked");
  EXPECT_EQ(link_problems({make_native_module(), importer("import optional @native.add(i32, i32) -> i32 version 3")}),
            "linked");
  EXPECT_THAT(link_problems({make_native_module(), importer("import optional @native.add(i32)")}),
              HasSubstr("as (i32) -> (), but it is"));
}

TEST(Program, ABareReferenceAgreesWithANamedOne) {
  EXPECT_EQ(link_problems({make_native_module(), importer("import @native.make() -> ref")}), "linked");
  EXPECT_EQ(link_problems({make_native_module(), importer("import @native.take(blob, list)")}), "linked");
  EXPECT_THAT(link_problems({make_native_module(), importer("import @native.make() -> blob")}), HasSubstr("but it is"));
}

constexpr std::string_view kOptional = R"(
import optional @native.add(i32, i32) -> i32 fallback @sub
import optional @native.nothing(i32) -> i32
func @sub(%a: i32, %b: i32) -> i32 {
  sub.i32 %v0, %a, %b
  return
}
export func @run() -> i32 {
  const.i32 %v0, 5
  const.i32 %v1, 3
  call.import @native.add, %v0, %r0
  return
}
export func @resolved() -> (i32, i32) {
  import.resolved %v0, @native.add
  import.resolved %v1, @native.nothing
  return
}
export func @call_missing() -> i32 {
  const.i32 %v0, 5
  call.import @native.nothing, %v0, %r0
  return
})";

TEST(Program, AMissingOptionalImportRunsItsFallback) {
  const Ref<Context> without = testing::make_context(kOptional);
  EXPECT_EQ(testing::call_i32(without, "run"), 2);
  EXPECT_EQ(testing::call_i32(without, "resolved"), 0);
  const Ref<Context> with = testing::make_context({make_native_module(), load_text(kOptional)});
  EXPECT_EQ(testing::call_i32(with, "run"), 8);
  EXPECT_EQ(testing::call_i32(with, "resolved"), 1);
}

TEST(Program, AMissingOptionalImportWithoutFallbackTraps) {
  const Status trap = testing::call_fails(testing::make_context(kOptional), "call_missing");
  EXPECT_EQ(trap.code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(trap.message()), HasSubstr("optional import is missing: 'native.nothing'"));
}

TEST(Program, FindsFunctionsByNameAndByModule) {
  const Ref<Program> program = testing::expect_ok(
      testing::link({make_native_module(),
                     load_text("module @a.b\nexport func @same() {\n  return\n}\nexport func @only() {\n  return\n}"),
                     load_text("module @last\nexport func @same() {\n  return\n}")}));
  EXPECT_EQ(testing::expect_ok(program->find_function("same")).module, 2u) << "the last module wins";
  EXPECT_EQ(testing::expect_ok(program->find_function("a.b.same")).module, 1u);
  EXPECT_EQ(testing::expect_ok(program->find_function("only")).module, 1u);
  EXPECT_EQ(testing::expect_ok(program->find_function("native.add")).module, 0u);
  const auto missing = program->find_function("sane");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "NOT_FOUND; no function 'sane'; did you mean 'same'? The last module exports: same.");
}

}  // namespace
}  // namespace baton::vm
