// A loaded module knows its functions, and its constants stay where the file has them for as long as anyone reads them.
#include "vm/bytecode_module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/bytes.hpp"
#include "bytecode/opcode.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/temporary_path.hpp"

namespace baton::vm {
namespace {

using testing::load_text;

constexpr std::string_view kText = R"(
module @constants version 4
rodata @hello = "hello"
rodata @empty = ""
export func @hello() -> blob {
  rodata %r0, @hello
  return
}
func @inner(%a: i32, %b: ref) -> f64 values 9 refs 3 {
  const.f64 %v0, 1.0
  return
})";

TEST(BytecodeModule, KnowsNamesVersionAndFrames) {
  const Ref<BytecodeModule> module = load_text(kText);
  EXPECT_EQ(module->name(), "constants");
  EXPECT_EQ(module->version(), 4u);
  ASSERT_EQ(module->export_count(), 1u);
  EXPECT_EQ(module->export_at(0).name, "hello");
  EXPECT_EQ(module->export_at(0).signature, "v_r<blob>");
  EXPECT_EQ(module->find_export("hello"), 0u);
  EXPECT_EQ(module->find_export("inner"), std::nullopt);
  ASSERT_EQ(module->functions().size(), 2u);
  const Function& inner = module->functions()[1];
  EXPECT_EQ(inner.value_registers, 9);
  EXPECT_EQ(inner.ref_registers, 3);
  EXPECT_EQ(inner.shape, (bytecode::SignatureShape{.argument_values = 1, .argument_refs = 1, .result_values = 1}));
}

TEST(BytecodeModule, UsesRodataInPlaceAndReadOnly) {
  const Ref<BytecodeModule> module = load_text(kText);
  const Blob& hello = *module->rodata(0);
  EXPECT_EQ(hello.data, module->view().rodata(0).data());
  EXPECT_EQ(hello.size, 5u);
  EXPECT_FALSE(hello.writable);
  EXPECT_EQ(module->rodata(1)->size, 0u);
}

TEST(BytecodeModule, RodataOutlivesModuleProgramAndContext) {
  Ref<Object> hello;
  {
    const Ref<Context> context = testing::make_context({load_text(kText)});
    hello = Ref<Object>::adopt(testing::expect_ok(testing::call(context, "hello"))[0].ref);
  }
  const Blob* blob = as_blob(hello.get());
  ASSERT_TRUE(blob);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(blob->data), blob->size), "hello");
}

// Whoever loads the code of an executable uses the file's bytes in place.
TEST(BytecodeModule, ExecutablesOutliveModuleProgramAndContext) {
  Ref<Object> second;
  {
    const Ref<Context> context = testing::make_context({load_text(R"(
module @code
rodata @bytes = "bytes of code"
executable @first registered "theirs" { entry_point "f" }
executable @second { variant "format" @bytes }
export func @second() -> executable {
  executable %r1, @first
  executable %r0, @second
  return
})")});
    second = Ref<Object>::adopt(testing::expect_ok(testing::call(context, "second"))[0].ref);
  }
  ASSERT_EQ(second->type, &ExecutableRow::kType);
  const auto& row = static_cast<const ExecutableRow&>(*second);
  EXPECT_EQ(row.view().name(), "second");
  EXPECT_EQ(row.module.rodata(row.view().variant(0).rodata()).size(), 13u);
}

TEST(BytecodeModule, RefusesBytesThatAreNoModule) {
  const std::byte bytes[64]{};
  const auto module = BytecodeModule::load(bytecode::ModuleBytes::copy(bytes));
  ASSERT_FALSE(module);
  EXPECT_THAT(std::string(module.error().message()), ::testing::HasSubstr("Not a Baton module"));
}

TEST(BytecodeModule, NamesTheFileThatCannotBeRead) {
  const auto module = BytecodeModule::load_file("no/such/file.bvm");
  ASSERT_FALSE(module);
  EXPECT_THAT(std::string(module.error().message()), ::testing::HasSubstr("no/such/file.bvm"));
}

// The gate looks once. Whoever may write to the file afterwards does not change the code that it proved.
TEST(BytecodeModule, CodeInAFileIsNotChangedAfterTheProof) {
  const std::vector<std::byte> bytes = testing::expect_ok(bytecode::assemble(R"(module @t
export func @spin() -> i32 {
  const.i32 %v0, 1
again:
  nop
  br again
})"));
  const std::string path = testing_support::temporary_path("changed_after_the_proof.bvm");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const Ref<const Module> module = testing::expect_ok(BytecodeModule::load_file(path));
  size_t at = 0;
  while (load_bytes<uint64_t>(&bytes[at]) != uint64_t{static_cast<uint16_t>(bytecode::Opcode::nop)}) at += 8;
  const uint64_t patch = static_cast<uint16_t>(bytecode::Opcode::ret);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(at))
      .write(reinterpret_cast<const char*>(&patch), sizeof(patch));
  const Ref<Context> context = testing::make_context({module});
  Invocation invocation(context);
  invocation.set_instruction_budget(1000);
  const auto result = testing::call(invocation, context, "spin");
  ASSERT_FALSE(result) << "the loop ended: other code runs than was proved";
  EXPECT_EQ(result.error().code(), StatusCode::kResourceExhausted);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace baton::vm
