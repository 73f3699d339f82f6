// One entry point's part of a module reads like the whole one, and holds nothing of the others.
#include "hal/drivers/vulkan/spirv_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "hal/drivers/vulkan/spirv_module.hpp"
#include "hal/spirv_words.hpp"
#include "kernels_several_spv.hpp"
#include "tests/hal/drivers/vulkan/written_spirv.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

std::vector<uint32_t> all_words() {
  std::vector<uint32_t> words(sizeof(kernels_several_spv) / 4);
  std::memcpy(words.data(), kernels_several_spv, words.size() * 4);
  return words;
}

Result<SpirvModule> read(std::span<const uint32_t> words) { return read_spirv(std::as_bytes(words)); }

TEST(SpirvPartTest, HoldsOneEntryPointAsItWas) {
  const std::vector<uint32_t> words = all_words();
  const auto whole = read(words);
  ASSERT_OK(whole);
  ASSERT_EQ(whole->entry_points.size(), 3u);
  for (const SpirvEntryPoint& entry : whole->entry_points) {
    const std::vector<uint32_t> part = only_entry_point(words, entry.function);
    EXPECT_LT(part.size(), words.size());
    const auto alone = read(part);
    ASSERT_OK(alone) << entry.name;
    ASSERT_EQ(alone->entry_points.size(), 1u);
    EXPECT_EQ(alone->entry_points[0].name, entry.name);
    EXPECT_EQ(alone->entry_points[0].shared_bytes, entry.shared_bytes);
    EXPECT_EQ(alone->entry_points[0].by_address, entry.by_address);
    EXPECT_TRUE(std::equal(std::begin(entry.workgroup_size), std::end(entry.workgroup_size),
                           std::begin(alone->entry_points[0].workgroup_size)));
    EXPECT_EQ(only_entry_point(part, entry.function), part) << "nothing more goes";
  }
}

TEST(SpirvPartTest, SharedMemoryIsItsOwn) {
  const std::vector<uint32_t> words = all_words();
  const auto whole = read(words);
  ASSERT_OK(whole);
  for (const SpirvEntryPoint& entry : whole->entry_points) {
    size_t variables = 0;
    const std::vector<uint32_t> part = only_entry_point(words, entry.function);
    ASSERT_OK(for_each_instruction(part, [&](const SpirvInstruction& one) -> Status {
      variables += one.op == spirv::kVariable && one[3] == spirv::kWorkgroup;
      return {};
    }));
    EXPECT_EQ(variables > 0, entry.shared_bytes > 0) << entry.name;
  }
}

// An alignment of 16 is no name of the variable 16, nor an index that of 18: what such a number kept was more than the device's
// shared memory.
TEST(SpirvPartTest, LiteralsAreNoNames) {
  constexpr uint32_t kAligned = 2;
  WrittenSpirv written(40);
  for (const uint32_t variable : {16u, 17u, 18u}) written.add(spirv::kVariable, {20, variable, spirv::kWorkgroup});
  written.add(spirv::kFunction, {2, 1, 0, 3});
  written.add(61, {2, 30, 17, kAligned, 16});  // OpLoad
  written.add(81, {2, 31, 30, 18});            // OpCompositeExtract
  written.add(spirv::kFunctionEnd, std::initializer_list<uint32_t>{});
  std::vector<uint32_t> variables;
  ASSERT_OK(for_each_instruction(only_entry_point(written.words, 1), [&](const SpirvInstruction& one) -> Status {
    if (one.op == spirv::kVariable) variables.push_back(one[2]);
    return {};
  }));
  EXPECT_EQ(variables, std::vector<uint32_t>{17});
}

TEST(SpirvPartTest, WhatIsNotKnownLeavesTheModuleWhole) {
  std::vector<uint32_t> words = all_words();
  const auto whole = read(words);
  ASSERT_OK(whole);
  size_t at = 0;
  ASSERT_OK(for_each_instruction(words, [&](const SpirvInstruction& one) -> Status {
    if (one.op == spirv::kStore && at == 0) at = one.at;
    return {};
  }));
  ASSERT_NE(at, 0u);
  words[at] = (words[at] & 0xffff0000) | 4999;
  EXPECT_EQ(only_entry_point(words, whole->entry_points[0].function), words);
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
