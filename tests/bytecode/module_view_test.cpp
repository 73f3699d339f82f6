// The view: every accessor over one module that has a row of each table, and over one whose debug table was stripped.
#include "bytecode/module_view.hpp"

#include <gtest/gtest.h>

#include "bytecode/verifier.hpp"
#include "tests/bytecode/raw_module.hpp"

namespace baton::bytecode {
namespace {

using O = Opcode;

class ModuleViewTest : public testing::Test {
 protected:
  static RawModule full() {
    RawModule module;
    module.name = "full";
    module.types = {"blob"};
    module.signatures = {"v_v", "i_i"};
    module.functions = {{0, 1, 0, 0, 0}, {1, 2, 1, 2, 1}};
    module.code = {word(O::ret), word(O::move, 1, 0), word(O::ret_value, 1)};
    module.imports = {{"log.write.all", 0, true, 0}};
    module.exports = {{"a", 1}, {"b", 0}, {"c.d", 1}};
    module.globals = {{7, 1, true, 0, 0}, {0, 4, false, 0, 0}, {0, 4, false, 0, kNoIndex}};
    module.rodata = {{0, 3}, {64, 5}};
    module.rodata_bytes = 69;
    module.attributes = {{kNoIndex, "key", "value"}, {1, "k", ""}};
    module.initializer = 0;
    module.debug = {{"first", "second"}, {"g", "h", "i"}, {"r", "s"}, {"x.mlir"}, {{0, 0, 3, 4}, {2, 0, 5, 6}}};
    return module;
  }

  const ModuleBytes bytes_ = full().finish();
  const Result<ModuleView> verified_ = verify(bytes_.bytes());
  const ModuleView& view() const { return verified_.value(); }
};

TEST_F(ModuleViewTest, ShowsFunctions) {
  EXPECT_EQ(view().name(), "full");
  EXPECT_EQ(view().isa_version(), kIsaVersion);
  ASSERT_EQ(view().function_count(), 2u);
  const FunctionView second = view().function(1);
  EXPECT_EQ(second.code.size(), 2u);
  EXPECT_EQ(second.code[0], word(O::move, 1, 0));
  EXPECT_EQ(second.code_begin, 1u);
  EXPECT_EQ(second.signature, "i_i");
  EXPECT_EQ(second.value_registers, 2);
  EXPECT_EQ(second.ref_registers, 1);
  EXPECT_EQ(view().function_name(1), "second");
  EXPECT_EQ(view().initializer(), 0u);
}

TEST_F(ModuleViewTest, ShowsImports) {
  ASSERT_EQ(view().import_count(), 1u);
  const ImportView import = view().import(0);
  EXPECT_EQ(import.module_name(), "log");
  EXPECT_EQ(import.function_name(), "write.all");
  EXPECT_TRUE(import.optional);
  EXPECT_EQ(import.fallback, 0u);
}

TEST_F(ModuleViewTest, FindsEveryExportAndNothingElse) {
  EXPECT_EQ(view().find_export("a"), 0u);
  EXPECT_EQ(view().find_export("b"), 1u);
  EXPECT_EQ(view().find_export("c.d"), 2u);
  for (const std::string_view missing : {"", "A", "aa", "c", "z"}) EXPECT_EQ(view().find_export(missing), std::nullopt);
}

TEST_F(ModuleViewTest, ShowsGlobalsRodataAndAttributes) {
  EXPECT_EQ(view().global(0).initial, 7u);
  EXPECT_TRUE(view().global(0).is_mutable);
  EXPECT_EQ(view().global(1).ref_type, "blob");
  EXPECT_EQ(view().global(2).ref_type, "");
  EXPECT_EQ(view().global_name(2), "i");
  ASSERT_EQ(view().rodata_count(), 2u);
  EXPECT_EQ(view().rodata(1).size(), 5u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view().rodata(1).data()) % kRodataAlignment, 0u);
  EXPECT_EQ(view().rodata_name(0), "r");
  EXPECT_EQ(view().attribute(0).function, kNoIndex);
  EXPECT_EQ(view().attribute(1).key, "k");
}

// A row holds until the next one, and never for another function.
TEST_F(ModuleViewTest, FindsLocations) {
  EXPECT_EQ(view().location(0)->line, 3u);
  EXPECT_EQ(view().location(1), std::nullopt);
  EXPECT_EQ(view().location(2)->line, 5u);
  EXPECT_EQ(view().location(2)->file, "x.mlir");
}

TEST_F(ModuleViewTest, AnswersEmptyWithoutADebugTable) {
  RawModule module = full();
  module.debug.reset();
  const ModuleBytes bytes = module.finish();
  const Result<ModuleView> stripped = verify(bytes.bytes());
  ASSERT_TRUE(stripped);
  EXPECT_FALSE(stripped->has_debug());
  EXPECT_EQ(stripped->function_name(0), "");
  EXPECT_EQ(stripped->location_count(), 0u);
  EXPECT_EQ(stripped->location(0), std::nullopt);
}

}  // namespace
}  // namespace baton::bytecode
