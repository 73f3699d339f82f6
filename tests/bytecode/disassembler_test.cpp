// The disassembler's own: one instruction for traces, names that repeat or are missing, numbers that must read back
// exactly.
#include "bytecode/disassembler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "bytecode/instruction_writer.hpp"
#include "bytecode/module_builder.hpp"
#include "tests/bytecode/round_trip.hpp"

namespace baton::bytecode {
namespace {

using testing::HasSubstr;

// Bytes → text → bytes; what is left of the difference is the test's business.
void expect_round_trip(std::span<const std::byte> bytes) {
  const std::string printed = text_of(bytes);
  const auto again = assemble(printed);
  ASSERT_TRUE(again) << again.error().message() << "\n" << printed;
  EXPECT_TRUE(std::ranges::equal(*again, bytes)) << printed;
}

void define_return(ModuleBuilder& builder, uint32_t function) {
  InstructionWriter writer;
  writer.emit(Opcode::ret, {});
  builder.define_function(function, writer.finish()->words, 0, 0);
}

TEST(Disassembler, PrintsOneInstruction) {
  const auto bytes = assemble(
      "module @m\n"
      "func @first() { return }\n"
      "func @loop(%n: i32) {\n"
      "  const.i32 %v1, -5\n"
      "again: next.i32 %v1, %n, again\n"
      "  return\n"
      "}\n");
  ASSERT_TRUE(bytes);
  const ModuleBytes copy = ModuleBytes::copy(*bytes);
  const auto view = verify(copy.bytes());
  ASSERT_TRUE(view) << view.error().message();
  EXPECT_EQ(disassemble_instruction(*view, 0), "return");
  EXPECT_EQ(disassemble_instruction(*view, 1), "const.i32 %v1, -5");
  EXPECT_EQ(disassemble_instruction(*view, 2), "next.i32 %v1, %v0, L1");
  EXPECT_EQ(disassemble_instruction(*view, 3), "return");
}

// Compilers give things names that repeat, that are empty, and that are no identifiers.
TEST(Disassembler, AnyNamesRoundTrip) {
  ModuleBuilder builder("a \"b\"\n");
  for (const char* name : {"f", "f", "", "", "f#1", "two words", "v0", "\xc3\xbc"}) {
    define_return(builder, builder.declare_function(name, "v_v"));
    builder.add_global({.name = name});
    builder.add_rodata(name, {}, false);
  }
  builder.add_import({.name = "a.b c", .signature = "v_v"});
  builder.add_import({.name = "a.b c", .signature = "i_v"});
  const auto bytes = builder.finish();
  ASSERT_TRUE(bytes);
  EXPECT_THAT(text_of(*bytes), HasSubstr("func @f#1()"));
  EXPECT_THAT(text_of(*bytes), HasSubstr("func @\"f#1\"()"));
  expect_round_trip(*bytes);
}

// Tables in an order that the assembler would not come to by itself are spelled out.
TEST(Disassembler, AnyTableOrderRoundTrips) {
  ModuleBuilder builder("m");
  builder.add_type("z");
  builder.add_type("i32");
  builder.add_type("a...");
  builder.add_signature("CiDCr<i32>ID_v");
  builder.add_signature("r<a...>_r<i32>");
  builder.add_import({.name = "x.y", .signature = "CiDCr<i32>ID_v"});
  define_return(builder, builder.declare_function("f", "v_v"));
  const auto bytes = builder.finish();
  ASSERT_TRUE(bytes);
  EXPECT_THAT(text_of(*bytes), HasSubstr("type \"i32\"\ntype \"a...\"\n"));
  EXPECT_THAT(text_of(*bytes), HasSubstr("import @x.y((i32)..., (\"i32\", i64)...)"));
  expect_round_trip(*bytes);
}

TEST(Disassembler, TablesInNaturalOrderAreNotSpelledOut) {
  const std::string printed = reprinted("module @m\nimport @a.b(blob) -> tensor\nfunc @f(i32) { return }\n");
  EXPECT_THAT(printed, testing::Not(HasSubstr("type ")));
  EXPECT_THAT(printed, testing::Not(HasSubstr("signature ")));
}

TEST(Disassembler, StrippedModulesGetSyntheticNames) {
  const auto bytes = assemble(
      "module @m\nstripped\nglobal @k : i32\nrodata @r = \"x\"\n"
      "export func @sum(i32) -> i32 {\n loc \"a\":1:1\n call @other, %v1, %r0\n global.get %v0, @k\n return\n}\n"
      "func @other() { rodata %r0, @r\n return }\n");
  ASSERT_TRUE(bytes) << bytes.error().message();
  const std::string printed = text_of(*bytes);
  EXPECT_THAT(printed, HasSubstr("export(\"sum\") func @f0(i32) -> i32"));
  EXPECT_THAT(printed, HasSubstr("call @f1, %v1, %r0"));
  EXPECT_THAT(printed, HasSubstr("global.get %v0, @g0"));
  EXPECT_THAT(printed, HasSubstr("rodata %r0, @d0"));
  expect_round_trip(*bytes);
}

TEST(Disassembler, NumbersReadBackToTheSameBits) {
  std::string source = "module @m\nfunc @f() {\n";
  for (const char* f32 : {"0x80000000", "0x00000001", "0x7f7fffff", "0x7f800000", "0xff800000", "0x7fc00000",
                          "0xffc00000", "0x7f800001", "0x3dcccccd", "0x4b800001"}) {
    source += text("  const.f32 %v0, ", f32, "\n");
  }
  for (const char* f64 :
       {"0x8000000000000000", "1", "0x7fefffffffffffff", "0xfff8000000000000", "0x3fb999999999999a"}) {
    source += text("  const.f64 %v0, ", f64, "\n");
  }
  for (const char* i64 : {"-9223372036854775808", "0xffffffffffffffff", "9223372036854775807"}) {
    source += text("  const.i64.wide %v0, ", i64, "\n");
  }
  source += "  return\n}\n";
  const auto bytes = assemble(source);
  ASSERT_TRUE(bytes) << bytes.error().message();
  expect_round_trip(*bytes);
  const std::string printed = text_of(*bytes);
  EXPECT_THAT(printed, HasSubstr("const.f32 %v0, 0.1\n"));
  EXPECT_THAT(printed, HasSubstr("const.f32 %v0, -0\n"));
  EXPECT_THAT(printed, HasSubstr("const.f32 %v0, nan\n"));
  EXPECT_THAT(printed, HasSubstr("const.f32 %v0, 0xffc00000\n"));
  EXPECT_THAT(printed, HasSubstr("const.i64.wide %v0, -1\n"));
}

TEST(Disassembler, RodataOfAllKindsRoundTrips) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "a line of words, and \"quotes\" \\ too\n";
  ModuleBuilder builder("m");
  for (const std::string& bytes : {all, lines, std::string(), std::string(1000, 'x'), std::string(32, '\0')}) {
    builder.add_rodata("r", std::as_bytes(std::span(bytes)), false);
  }
  const auto bytes = builder.finish();
  ASSERT_TRUE(bytes);
  expect_round_trip(*bytes);
  EXPECT_THAT(text_of(*bytes), HasSubstr("rodata @r#1 =\n  \"a line of words, and \\\"quotes\\\" \\\\ too\\n\"\n"));
}

// A row of anything that the table may say.
ExecutableRow random_executable(std::mt19937& random, uint32_t index, uint32_t rodata_count) {
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  const auto launch = [&] {
    return LaunchRow{{1 + below(1024), 1 + below(3), UINT32_MAX - below(2)}, below(1u << 31)};
  };
  ExecutableRow row{text("executable ", index)};
  const bool launched = below(2) == 0;
  for (uint32_t i = below(4); i > 0; --i) {
    EntryPointRow entry{text("entry \"", i, "\"\\")};
    if (below(3) != 0) {
      entry.constants = below(65536);
      for (uint32_t j = below(5); j > 0; --j) entry.bindings.push_back(static_cast<uint8_t>(below(4)));
    }
    if (launched) entry.launch = launch();
    for (uint32_t j = below(3); j > 0; --j) {
      entry.attributes.push_back({text("attribute ", j), below(2) ? std::numeric_limits<int64_t>::min() : below(9)});
    }
    row.entry_points.push_back(std::move(entry));
  }
  if (below(4) == 0) row.registered_name = "from; the \n host";
  for (uint32_t i = row.registered_name.empty() ? 1 + below(3) : 0; i > 0; --i) {
    VariantRow variant{.format = text("format-", below(3)), .rodata = below(rodata_count)};
    if (below(2) == 0) variant.target = "sm_90a";
    if (below(2) == 0) variant.condition = 0;
    if (below(2) == 0) variant.constants = below(65536);
    if (below(2) == 0) {
      for (size_t j = 0; j < row.entry_points.size(); ++j) variant.launches.push_back(launch());
    }
    row.variants.push_back(std::move(variant));
  }
  return row;
}

TEST(Disassembler, ExecutablesRoundTrip) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ModuleBuilder builder("m");
    builder.add_rodata("code", {}, false);
    builder.add_rodata("", {}, false);
    const uint32_t condition = builder.declare_function("holds?", "r<hal.device>_i");
    InstructionWriter code;
    code.emit(Opcode::const_i32, {0, 1});
    code.emit(Opcode::ret, {});
    builder.define_function(condition, code.finish()->words, 1, 1);
    if (seed % 2 == 1) builder.strip_debug();
    for (uint32_t i = seed / 2 % 4; i > 0; --i) builder.add_executable(random_executable(random, i, 2));
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes);
    expect_round_trip(*bytes);
  }
}

// Every program of the golden tests, whatever it is there for.
TEST(Disassembler, GoldenProgramsRoundTrip) {
  size_t programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(BATON_GOLDEN_PROGRAMS)) {
    if (entry.path().extension() != ".bvmasm") continue;
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path());
    const auto bytes = assemble((std::stringstream() << file.rdbuf()).str());
    ASSERT_TRUE(bytes) << bytes.error().message();
    expect_round_trip(*bytes);
    ++programs;
  }
  EXPECT_GT(programs, 0u);
}

}  // namespace
}  // namespace baton::bytecode
