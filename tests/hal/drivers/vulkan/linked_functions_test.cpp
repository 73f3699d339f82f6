// Kernels that import functions, and libraries that have them, written word by word: what is linked reads as whole code.
#include "hal/drivers/vulkan/linked_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hal/drivers/vulkan/spirv_module.hpp"
#include "hal/drivers/vulkan/spirv_operands.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

using Operands = std::vector<uint32_t>;

class Words {
 public:
  explicit Words(uint32_t version = 0x00010500) : words_{kMagic, version, 0, 100, 0} {}

  Words& op(uint32_t code, const Operands& operands = {}) {
    words_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | code);
    words_.insert(words_.end(), operands.begin(), operands.end());
    return *this;
  }
  // With a name among the operands.
  Words& named(uint32_t code, Operands operands, std::string_view name, const Operands& behind = {}) {
    const size_t first = operands.size();
    operands.resize(first + name.size() / 4 + 1);
    std::memcpy(operands.data() + first, name.data(), name.size());
    operands.insert(operands.end(), behind.begin(), behind.end());
    return op(code, operands);
  }
  std::vector<std::byte> code() const {
    const auto bytes = std::as_bytes(std::span(words_));
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::vector<uint32_t> words_;
};

// void main() { call(1.0, 2u); }, which gives a float.
std::vector<std::byte> kernel(std::string_view import = "scale", uint32_t version = 0x00010500) {
  Words words(version);
  words.op(kCapability, {kShader}).op(kCapability, {kLinkage}).op(kMemoryModel, {0, 1});
  words.named(kEntryPoint, {kGlCompute, 20}, "main").op(kExecutionMode, {20, kModeLocalSize, 1, 1, 1});
  words.named(kDecorate, {10, kLinkageAttributes}, import, {kImport});
  words.op(kTypeVoid, {1}).op(kTypeFloat, {2, 32}).op(kTypeInt, {3, 32, 0}).op(kTypeFunction, {4, 2, 2, 3});
  words.op(kTypeFunction, {5, 1}).op(kConstant, {2, 6, 0x3f800000}).op(kConstant, {3, 7, 2});
  words.op(kFunction, {2, 10, 0, 4}).op(kFunctionParameter, {2, 11}).op(kFunctionParameter, {3, 12}).op(kFunctionEnd);
  words.op(kFunction, {1, 20, 0, 5}).op(kLabel, {21}).op(kFunctionCall, {2, 22, 10, 6, 7}).op(kReturn);
  return words.op(kFunctionEnd).code();
}

struct LibraryOptions {
  bool has_linkage = true, has_barrier = false, has_variable = false;
  uint32_t width = 32;
};

// float scale(float x, int by) as GLSL has it, through variables; its helper() gives what it is given.
std::vector<std::byte> library(std::string_view name = "scale", const LibraryOptions& options = {}) {
  Words words;
  words.op(kCapability, {kShader}).op(kCapability, {kFloat64}).op(kMemoryModel, {0, 1});
  if (options.has_linkage) {
    words.op(kCapability, {kLinkage}).named(kDecorate, {30, kLinkageAttributes}, name, {kExport});
  } else {
    words.named(kName, {30}, text(name, "(f1;i1;")).named(kName, {40}, "helper(f1;").named(kName, {50}, "main(");
  }
  words.op(kDecorate, {36, kNoContraction}).op(kDecorate, {99, kNoContraction});
  words.op(kTypeFloat, {1, 32}).op(kTypeInt, {2, options.width, 1}).op(kTypePointer, {3, kFunctionClass, 1});
  words.op(kTypePointer, {4, kFunctionClass, 2}).op(kTypeFunction, {5, 1, 3, 4}).op(kTypeFunction, {6, 1, 1});
  words.op(kTypePointer, {7, kPrivate, 1}).op(kVariable, {7, 8, kPrivate}).op(kTypeInt, {9, 32, 0});
  words.op(kConstant, {9, 10, 2});
  words.op(kFunction, {1, 30, 0, 5}).op(kFunctionParameter, {3, 31}).op(kFunctionParameter, {4, 32}).op(kLabel, {33});
  words.op(kLoad, {1, 34, 31}).op(kLoad, {2, 35, 32, 2, 4}).op(kFunctionCall, {1, 37, 40, 34});
  if (options.has_barrier) words.op(kControlBarrier, {10, 10, 10});
  if (options.has_variable) words.op(kStore, {8, 37});
  words.op(kConvertSToF, {1, 38, 35}).op(kFMul, {1, 36, 37, 38}).op(kReturnValue, {36}).op(kFunctionEnd);
  words.op(kFunction, {1, 40, 0, 6}).op(kFunctionParameter, {1, 41}).op(kLabel, {42}).op(kReturnValue, {41});
  words.op(kFunctionEnd);
  words.op(kFunction, {1, 60, 0, 6}).op(kFunctionParameter, {1, 61}).op(kLabel, {62}).op(kReturnValue, {61});
  return words.op(kFunctionEnd).code();
}

std::vector<DeviceFunctions> registered(std::vector<std::byte> code) { return {{"a.spv", std::move(code)}}; }

// Of each opcode how often it is there.
std::map<uint32_t, int> counts(std::span<const std::byte> code) {
  std::map<uint32_t, int> all;
  const auto words = spirv_words(code);
  if (!words.has_value()) return all;
  EXPECT_OK(
      for_each_instruction(*words, [&](const SpirvInstruction& one) -> Status { return ++all[one.op], Status(); }));
  return all;
}

TEST(LinkedFunctionsTest, WhatIsFoundComesWithWhatItCalls) {
  for (const bool has_linkage : {true, false}) {
    const auto functions = registered(library("scale", {.has_linkage = has_linkage}));
    auto linked = link_functions(kernel(), functions);
    ASSERT_OK(linked);
    const auto module = read_spirv(*linked);
    ASSERT_OK(module);
    EXPECT_EQ(module->capabilities, (Operands{kShader, kFloat64}));
    ASSERT_EQ(module->entry_points.size(), 1u);
    std::map<uint32_t, int> count = counts(*linked);
    // The entry point, the import, the function and its helper; none that nobody calls.
    EXPECT_EQ(count[kFunction], 4);
    EXPECT_EQ(count[kFunction], count[kLabel]);
    EXPECT_EQ(count[kFunctionCall], 3);
    EXPECT_EQ(count[kTypeFloat], 1);
    EXPECT_EQ(count[kTypeInt], 2);
    EXPECT_EQ(count[kVariable], 2);  // What is handed on by address.
    EXPECT_EQ(count[kBitcast], 1);   // A number with a sign.
    EXPECT_EQ(count[kDecorate], 1);
  }
}

TEST(LinkedFunctionsTest, EveryIdIsMadeOnceAndCallsHaveBodies) {
  const auto functions = registered(library());
  auto linked = link_functions(kernel(), functions);
  ASSERT_OK(linked);
  const auto words = spirv_words(*linked);
  ASSERT_OK(words);
  std::set<uint32_t> made, called, functions_made;
  ASSERT_OK(for_each_instruction(*words, [&](const SpirvInstruction& one) -> Status {
    if (one.op == kFunctionCall) called.insert(one[3]);
    if (one.op == kFunction) functions_made.insert(one[2]);
    if (one.op < kTypeVoid || one.op == kDecorate) return {};
    BATON_TRY_ASSIGN(const SpirvOperands operands, operands_of(one));
    if (operands.result == 0) return {};
    EXPECT_TRUE(made.insert(one[operands.result]).second) << one[operands.result];
    EXPECT_LT(one[operands.result], (*words)[3]);
    return {};
  }));
  for (const uint32_t each : called) EXPECT_TRUE(functions_made.contains(each)) << each;
}

TEST(LinkedFunctionsTest, CodeThatAsksForNothingStaysAsItIs) {
  Words plain;
  plain.op(kCapability, {kShader});
  const auto functions = registered(library());
  auto linked = link_functions(plain.code(), functions);
  ASSERT_OK(linked);
  EXPECT_TRUE(linked->empty());
  linked = link_functions({}, functions);
  ASSERT_OK(linked);
  EXPECT_TRUE(linked->empty());
}

TEST(LinkedFunctionsTest, WhatNobodyHasIsNamed) {
  const auto functions = registered(library("other"));
  for (const std::span<const DeviceFunctions> each : {std::span<const DeviceFunctions>(), std::span(functions)}) {
    EXPECT_FAILS(link_functions(kernel(), each), StatusCode::kNotFound,
                 "The kernels import functions that nobody provides: 'scale'; device code that defines them is "
                 "registered before programs are loaded.");
  }
}

TEST(LinkedFunctionsTest, WhatMayBeMissingGivesZeroThen) {
  const std::string optional = text(kOptionalImport, "scale");
  auto linked = link_functions(kernel(optional), {});
  ASSERT_OK(linked);
  ASSERT_OK(read_spirv(*linked));
  EXPECT_EQ(counts(*linked)[kConstantNull], 1);
  EXPECT_EQ(counts(*linked)[kFunction], 2);
  const auto functions = registered(library());
  linked = link_functions(kernel(optional), functions);
  ASSERT_OK(linked);
  EXPECT_EQ(counts(*linked)[kFunction], 4);
}

TEST(LinkedFunctionsTest, TheQuestionIsAnswered) {
  Words words;
  words.op(kCapability, {kShader}).op(kCapability, {kLinkage}).op(kMemoryModel, {0, 1});
  words.named(kEntryPoint, {kGlCompute, 20}, "main").op(kExecutionMode, {20, kModeLocalSize, 1, 1, 1});
  words.named(kDecorate, {10, kLinkageAttributes}, text(kIsThere, "scale"), {kImport});
  words.op(kTypeVoid, {1}).op(kTypeBool, {2}).op(kTypeFunction, {4, 2}).op(kTypeFunction, {5, 1});
  words.op(kFunction, {2, 10, 0, 4}).op(kFunctionEnd);
  words.op(kFunction, {1, 20, 0, 5}).op(kLabel, {21}).op(kFunctionCall, {2, 22, 10}).op(kReturn).op(kFunctionEnd);
  const auto functions = registered(library());
  for (const bool is_there : {true, false}) {
    auto linked = link_functions(
        words.code(), is_there ? std::span<const DeviceFunctions>(functions) : std::span<const DeviceFunctions>());
    ASSERT_OK(linked);
    ASSERT_OK(read_spirv(*linked));
    EXPECT_EQ(counts(*linked)[kConstantTrue], is_there ? 1 : 0);
    EXPECT_EQ(counts(*linked)[kConstantFalse], is_there ? 0 : 1);
  }
}

TEST(LinkedFunctionsTest, WhatCannotBeLinkedSaysWhy) {
  const auto expect = [](std::vector<std::byte> code, StatusCode status, std::string_view said) {
    const auto functions = registered(std::move(code));
    EXPECT_FAILS(link_functions(kernel(), functions), status, said);
  };
  expect(library("scale", {.width = 64}), StatusCode::kInvalidArgument,
         "Function 'scale' of 'a.spv' is (float32, int64) -> float32; the kernels call it as (float32, uint32) -> "
         "float32.");
  expect(library("scale", {.has_barrier = true}), StatusCode::kInvalidArgument,
         "It has a barrier, which a function can't.");
  expect(library("scale", {.has_variable = true}), StatusCode::kInvalidArgument,
         "Its functions use a variable outside of them, which they can't.");
  const std::vector<DeviceFunctions> twice = {{"a.spv", library()}, {"b.spv", library()}};
  EXPECT_FAILS(link_functions(kernel(), twice), StatusCode::kAlreadyExists,
               "Function 'scale' is defined twice, by 'a.spv' and by 'b.spv'.");
  const auto functions = registered(library());
  EXPECT_FAILS(link_functions(kernel("scale", 0x00010300), functions), StatusCode::kInvalidArgument,
               "It is SPIR-V 1.5, and the kernels 1.3, whose variables are told otherwise.");
}

// Whatever stands in a word: linked, or a status.
TEST(LinkedFunctionsTest, BrokenCodeIsRefused) {
  const std::vector<std::byte> good = library(), kernels = kernel();
  int whole = 0;
  for (size_t length = 0; length < good.size(); ++length) {
    const auto functions = registered({good.begin(), good.begin() + static_cast<ptrdiff_t>(length)});
    whole += link_functions(kernels, functions).has_value();
  }
  EXPECT_EQ(whole, 1) << "without the function at the end, which nobody calls";
  const auto functions = registered(good);
  for (const uint32_t value : {0u, 1u, 0xffffu, 0x00010039u, 0x7fffffffu, ~0u}) {
    for (size_t at = 0; at < good.size(); at += 4) {
      std::vector<std::byte> bad = good;
      std::memcpy(bad.data() + at, &value, sizeof(value));
      (void)link_functions(kernels, registered(std::move(bad)));
    }
    for (size_t at = 0; at < kernels.size(); at += 4) {
      std::vector<std::byte> bad = kernels;
      std::memcpy(bad.data() + at, &value, sizeof(value));
      (void)link_functions(bad, functions);
    }
  }
}

TEST(SpirvOperandsTest, LiteralsOfASwitchAreAsWideAsWhatItLooksAt) {
  const Operands words = {8u << 16 | kSwitch, 5, 6, 1, 0, 7, 2, 0};
  const SpirvInstruction narrow{kSwitch, 0, std::span(words).first(7)}, wide{kSwitch, 0, std::span(words)};
  auto operands = operands_of(narrow);
  ASSERT_OK(operands);
  EXPECT_EQ(operands->used, (Operands{1, 2, 4, 6}));
  EXPECT_FALSE(operands_of(narrow, 2).has_value());
  const SpirvInstruction one{kSwitch, 0, std::span(words).first(6)};
  operands = operands_of(one, 2);
  ASSERT_OK(operands);
  EXPECT_EQ(operands->used, (Operands{1, 2, 5}));
  EXPECT_FALSE(operands_of(wide, 2).has_value());
}

TEST(SpirvOperandsTest, WhatIsNotKnownIsToldByItsNumber) {
  const Operands words = {2u << 16 | 4999, 5};
  EXPECT_FAILS(operands_of({4999, 0, words}), StatusCode::kUnimplemented,
               "Instruction 4999 of SPIR-V is not known here.");
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
