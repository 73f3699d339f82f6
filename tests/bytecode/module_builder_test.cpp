// The builder writes what it was told, the same bytes each time, with rodata in place.
#include "bytecode/module_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bytecode/executable_view.hpp"
#include "bytecode/instruction_writer.hpp"
#include "bytecode/module_bytes.hpp"
#include "bytecode/verifier.hpp"

namespace baton::bytecode {
namespace {

std::vector<uint64_t> return_code() {
  InstructionWriter writer;
  writer.emit(Opcode::ret, {});
  return writer.finish()->words;
}

std::span<const std::byte> bytes_of(std::string_view characters) { return std::as_bytes(std::span(characters)); }

ModuleBuilder sample() {
  ModuleBuilder builder("sample");
  builder.set_version(7);
  builder.add_import({.name = "other.load", .signature = "r<blob>_r<tensor>", .minimum_version = 2});
  builder.add_global({.name = "count", .type = ValueType::kI64, .initial = 5});
  builder.add_global({.name = "anything", .type = ValueType::kRef});
  builder.add_global({.name = "weights", .type = ValueType::kRef, .ref_type = "tensor", .is_mutable = false});
  builder.add_rodata("short", bytes_of("abc"), false);
  builder.add_rodata("long", bytes_of(std::string(100, 'x')), false);
  const uint32_t first = builder.declare_function("first", "v_v");
  const uint32_t second = builder.declare_function("second", "i_i");
  builder.define_function(second, return_code(), 1, 0, {{0, "a.mlir", 3, 4}});
  builder.define_function(first, return_code(), 0, 0, {{0, "b.mlir", 1, 2}});
  builder.add_export("z", first);
  builder.add_export("a", second);
  builder.add_attribute(second, "key", "of second");
  builder.add_attribute(kNoIndex, "key", "of the module");
  builder.set_initializer(first);
  return builder;
}

// What whoever brings device code into a program writes, without a compiler.
TEST(ModuleBuilder, ExecutablesAreReadAsTheyWereWritten) {
  ModuleBuilder builder("kernels");
  const uint32_t code = builder.add_rodata("code", bytes_of(".target sm_75"), false);
  const uint32_t row = builder.add_executable(
      {.name = "blas",
       .entry_points = {{.name = "gemm",
                         .constants = 2,
                         .bindings = {1, 1, 3},
                         .launch = LaunchRow{{128, 1, 1}, 0},
                         .attributes = {{"priority", -1}}},
                        {.name = "gemv", .launch = LaunchRow{{32, 2, 1}, 64}}},
       .variants = {
           {.format = "cuda-ptx-compute_75", .rodata = code, .target = "sm_75", .constants = 3},
           {.format = "cuda-ptx-compute_80", .rodata = code, .launches = {{{256, 1, 1}, 4096}, {{64, 1, 1}, 0}}}}});
  builder.add_executable({.name = "theirs", .registered_name = "host.blas"});
  const auto bytes = builder.finish();
  ASSERT_TRUE(bytes);
  const ModuleBytes copy = ModuleBytes::copy(*bytes);
  const auto view = verify(copy.bytes());
  ASSERT_TRUE(view) << view.error().message();
  ASSERT_EQ(view->executable_count(), 2u);
  const ExecutableView blas = view->executable(row);
  EXPECT_EQ(blas.name(), "blas");
  EXPECT_EQ(blas.registered_name(), "");
  ASSERT_EQ(blas.entry_point_count(), 2u);
  const EntryPointView gemm = blas.entry_point(0);
  EXPECT_EQ(gemm.constants(), 2u);
  ASSERT_EQ(gemm.binding_count(), 3u);
  EXPECT_EQ(gemm.binding(2), 3);
  EXPECT_EQ(gemm.attribute(0).name, "priority");
  EXPECT_EQ(gemm.attribute(0).value, -1);
  EXPECT_FALSE(blas.entry_point(1).knows_layout());
  ASSERT_EQ(blas.variant_count(), 2u);
  EXPECT_EQ(blas.variant(0).target(), "sm_75");
  EXPECT_EQ(blas.variant(0).condition(), kNoIndex);
  EXPECT_EQ(blas.variant(0).constants(), 3u);
  EXPECT_EQ(view->rodata(blas.variant(0).rodata()).size(), 13u);
  EXPECT_EQ(blas.launch_of(1, 0), (LaunchRow{{32, 2, 1}, 64}));
  EXPECT_EQ(blas.launch_of(0, 1), (LaunchRow{{256, 1, 1}, 4096}));
  EXPECT_EQ(view->executable(1).registered_name(), "host.blas");
  EXPECT_EQ(view->executable(1).variant_count(), 0u);
}

TEST(ModuleBuilder, VerifiedViewSaysWhatTheBuilderWasTold) {
  const auto bytes = sample().finish();
  ASSERT_TRUE(bytes);
  const ModuleBytes copy = ModuleBytes::copy(*bytes);
  const auto view = verify(copy.bytes());
  ASSERT_TRUE(view) << view.error().message();
  EXPECT_EQ(view->name(), "sample");
  EXPECT_EQ(view->version(), 7u);
  EXPECT_EQ(view->import(0).minimum_version, 2u);
  EXPECT_EQ(view->type_count(), 2u);
  EXPECT_EQ(view->type(1), "tensor");
  EXPECT_EQ(view->global(0).initial, 5u);
  EXPECT_EQ(view->global(1).ref_type, "");
  EXPECT_EQ(view->global(2).ref_type, "tensor");
  EXPECT_FALSE(view->global(2).is_mutable);
  EXPECT_EQ(view->function(1).code_begin, 1u);
  EXPECT_EQ(view->function_name(1), "second");
  EXPECT_EQ(view->export_at(0).name, "a");
  EXPECT_EQ(view->export_at(1).function, 0u);
  EXPECT_EQ(view->attribute(0).value, "of the module");
  EXPECT_EQ(view->attribute(1).function, 1u);
  EXPECT_EQ(view->initializer(), 0u);
  EXPECT_EQ(view->location(0)->file, "b.mlir");
  EXPECT_EQ(view->location(1)->column, 4u);
}

TEST(ModuleBuilder, RodataIsAlignedInTheFileAndEndsIt) {
  const auto bytes = sample().finish();
  ASSERT_TRUE(bytes);
  const ModuleBytes copy = ModuleBytes::copy(*bytes);
  const auto view = verify(copy.bytes());
  ASSERT_TRUE(view);
  const auto last = view->rodata(1);
  EXPECT_EQ(last.size(), 100u);
  EXPECT_EQ(last.data() + last.size(), copy.bytes().data() + copy.bytes().size());
  for (uint32_t i = 0; i < view->rodata_count(); ++i) {
    EXPECT_EQ((view->rodata(i).data() - copy.bytes().data()) % 64, 0);
  }
  EXPECT_EQ(view->rodata(0)[2], std::byte{'c'});
}

TEST(ModuleBuilder, SameCallsSameBytes) { EXPECT_EQ(*sample().finish(), *sample().finish()); }

TEST(ModuleBuilder, StrippedModulesHaveNoNames) {
  ModuleBuilder builder = sample();
  builder.strip_debug();
  const auto bytes = builder.finish();
  const ModuleBytes copy = ModuleBytes::copy(*bytes);
  const auto view = verify(copy.bytes());
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->has_debug());
  EXPECT_EQ(view->function_name(0), "");
}

TEST(ModuleBuilder, SharesEqualRodataOnRequest) {
  ModuleBuilder builder("m");
  EXPECT_EQ(builder.add_rodata("a", bytes_of("same"), true), 0u);
  EXPECT_EQ(builder.add_rodata("b", bytes_of("same"), true), 0u);
  EXPECT_EQ(builder.add_rodata("c", bytes_of("same"), false), 1u);
  EXPECT_EQ(builder.add_rodata("d", bytes_of("other"), true), 2u);
}

TEST(ModuleBuilder, RefusesFunctionsWithoutCode) {
  ModuleBuilder builder("m");
  builder.declare_function("missing", "v_v");
  EXPECT_EQ(builder.finish().error().message(), "Function 'missing' is declared but never defined.");
}

TEST(ModuleBuilder, RefusesTwoExportsOfOneName) {
  ModuleBuilder builder = sample();
  builder.add_export("a", 0);
  EXPECT_EQ(builder.finish().error().message(), "Two functions are exported as 'a'.");
}

}  // namespace
}  // namespace baton::bytecode
