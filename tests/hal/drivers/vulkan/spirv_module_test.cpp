// SPIR-V is read before a driver sees it: what it takes is found, and nothing that is broken is read past its end.
#include "hal/drivers/vulkan/spirv_module.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "by_address_spv.hpp"
#include "by_descriptors_spv.hpp"
#include "shared_spv.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

std::vector<uint32_t> words_of(std::span<const unsigned char> bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

Result<SpirvModule> read(std::span<const uint32_t> words, std::span<const uint32_t> constants = {}) {
  return read_spirv(std::as_bytes(words), constants);
}

TEST(SpirvModuleTest, FindsWhatAKernelByDescriptorsTakes) {
  const auto module = read(words_of(by_descriptors_spv));
  ASSERT_OK(module);
  EXPECT_EQ(spirv_version_text(module->version), "1.5");
  ASSERT_EQ(module->entry_points.size(), 1u);
  const SpirvEntryPoint& entry = module->entry_points[0];
  EXPECT_EQ(entry.name, "main");
  EXPECT_FALSE(entry.by_address);
  EXPECT_EQ(entry.binding_count, 2u);
  EXPECT_EQ(entry.push_bytes, 8u);  // As many as an address has: the buffers tell it apart.
  EXPECT_EQ(entry.workgroup_size[0], 32u);
  EXPECT_EQ(entry.workgroup_size[1], 1u);
  EXPECT_EQ(entry.shared_bytes, 0u);
}

TEST(SpirvModuleTest, FindsWhatAKernelByAddressTakes) {
  const auto module = read(words_of(by_address_spv));
  ASSERT_OK(module);
  const SpirvEntryPoint& entry = module->entry_points[0];
  EXPECT_TRUE(entry.by_address);
  EXPECT_EQ(entry.binding_count, 0u);
  EXPECT_EQ(entry.push_bytes, 8u);
}

TEST(SpirvModuleTest, SizesFollowSpecialization) {
  const std::vector<uint32_t> words = words_of(shared_spv);
  const auto plain = read(words);
  ASSERT_OK(plain);
  EXPECT_EQ(plain->entry_points[0].workgroup_size[0], 1u);
  EXPECT_EQ(plain->entry_points[0].workgroup_size[1], 2u);
  EXPECT_EQ(plain->entry_points[0].shared_bytes, 4u * 8 * 4);
  EXPECT_EQ(plain->entry_points[0].binding_count, 4u);
  const uint32_t constants[] = {48, 16};
  const auto specialized = read(words, constants);
  ASSERT_OK(specialized);
  EXPECT_EQ(specialized->entry_points[0].workgroup_size[0], 48u);
  EXPECT_EQ(specialized->entry_points[0].shared_bytes, 16u * 8 * 4);
  EXPECT_EQ(specialized->specialized, (std::vector<SpirvSpecialized>{{0, 4}, {1, 4}}));
}

TEST(SpirvModuleTest, HeadersThatAreNone) {
  std::vector<uint32_t> words = words_of(by_address_spv);
  const auto with = [&](size_t word, uint32_t value) {
    std::vector<uint32_t> changed = words;
    changed[word] = value;
    return read(changed);
  };
  EXPECT_FAILS(read({}), StatusCode::kInvalidArgument, "has 0 bytes; it is words, five of them a header.");
  EXPECT_FAILS(read_spirv(std::as_bytes(std::span(words)).first(21)), StatusCode::kInvalidArgument, "has 21 bytes");
  EXPECT_FAILS(with(0, 0x03022307), StatusCode::kInvalidArgument, "is big-endian");
  EXPECT_FAILS(with(0, 0x464c457f), StatusCode::kInvalidArgument, "does not begin with 0x07230203");
  EXPECT_FAILS(with(1, 0x00010700), StatusCode::kInvalidArgument, "of version 1.7; Baton reads 1.0 to 1.6");
  EXPECT_FAILS(with(3, 0), StatusCode::kInvalidArgument, "a bound of 0 for ids");
  EXPECT_FAILS(with(3, 0xffffffff), StatusCode::kInvalidArgument, "a bound of 4294967295");
  EXPECT_FAILS(with(3, 3), StatusCode::kInvalidArgument, "is not below the bound (3)");
  EXPECT_FAILS(read(std::span(words).first(5)), StatusCode::kInvalidArgument, "no entry point for compute");
}

// Every prefix, and words that are changed at random: an answer each, whatever it is. AddressSanitizer watches.
TEST(SpirvModuleTest, BrokenCodeIsRefusedOrRead) {
  for (const auto bytes : {std::span<const unsigned char>(by_address_spv), std::span<const unsigned char>(shared_spv),
                           std::span<const unsigned char>(by_descriptors_spv)}) {
    const std::vector<uint32_t> words = words_of(bytes);
    for (size_t length = 5; length < words.size(); ++length) {
      // A copy that ends where the code does.
      const std::vector<uint32_t> prefix(words.begin(), words.begin() + static_cast<ptrdiff_t>(length));
      EXPECT_FALSE(read(prefix).has_value()) << length;
    }
    std::mt19937 random(7);
    for (int round = 0; round < 4000; ++round) {
      std::vector<uint32_t> changed = words;
      for (auto change = random() % 3 + 1; change > 0; --change) {
        uint32_t& word = changed[5 + random() % (changed.size() - 5)];
        switch (random() % 4) {
          case 0: word = static_cast<uint32_t>(random()); break;
          case 1: word ^= 1u << random() % 32; break;
          case 2: word = static_cast<uint32_t>(random() % 64); break;
          default: word = changed[5 + random() % (changed.size() - 5)];
        }
      }
      const auto answer = read(changed);
      if (answer.has_value()) {
        EXPECT_FALSE(answer->entry_points.empty());
      } else {
        EXPECT_FALSE(answer.error().message().empty());
      }
    }
  }
}

// What constants are made of by arithmetic: bits as the specification says, or nothing where it leaves them open.
TEST(SpirvModuleTest, ConstantsAreComputed) {
  using namespace spirv;
  const auto of = [](uint32_t op, uint32_t width, std::vector<uint64_t> operands, uint32_t width_before) {
    std::vector<SpirvValue> values;
    for (const uint64_t each : operands) values.push_back({.width = width_before, .parts = {each}});
    const auto made = spirv_evaluate(op, width, values, {});
    return made ? std::optional<uint64_t>(made->parts[0]) : std::nullopt;
  };
  const uint64_t minus_seven = 0xfffffff9, least = 0x80000000, all = 0xffffffff;
  const struct {
    uint32_t op;
    std::vector<uint64_t> operands;
    std::optional<uint64_t> made;
    uint32_t width = 32, width_before = 32;
  } rows[] = {{kIAdd, {all, 2}, 1},
              {kISub, {1, 2}, all},
              {kIMul, {least, 2}, 0},
              {kUDiv, {all, 2}, 0x7fffffff},
              {kUDiv, {1, 0}, std::nullopt},
              {kUMod, {7, 0}, std::nullopt},
              {kSDiv, {minus_seven, 2}, 0xfffffffd},
              {kSDiv, {least, all}, least},
              {kSDiv, {1, 0}, std::nullopt},
              {kSRem, {minus_seven, 2}, all},
              {kSRem, {least, all}, 0},
              {kSMod, {minus_seven, 2}, 1},
              {kSMod, {7, 0xfffffffe}, all},
              {kSNegate, {1}, all},
              {kNot, {0}, all},
              {kShiftLeftLogical, {1, 31}, least},
              {kShiftLeftLogical, {1, 32}, std::nullopt},
              {kShiftRightArithmetic, {least, 31}, all},
              {kShiftRightLogical, {least, 31}, 1},
              {kULessThan, {least, 1}, 0, 1},
              {kSLessThan, {least, 1}, 1, 1},
              {kLogicalNot, {1}, 0, 1, 1},
              {kUConvert, {0xff}, 0xff, 32, 8},
              {kSConvert, {0xff}, all, 32, 8},
              {kSConvert, {0x1ffff}, 0xffff, 16, 32},
              {kSelect, {1, 5, 6}, 5},
              {kSelect, {0, 5, 6}, 6},
              {kFAdd, {1, 2}, std::nullopt},
              {kIAdd, {}, std::nullopt},
              {kIAdd, {1, 2, 3}, std::nullopt},
              {kIAdd, {1, 2}, std::nullopt, 0}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    EXPECT_EQ(of(row.op, row.width, row.operands, row.width_before), row.made);
  }
  const SpirvValue numbers[] = {{.count = 3, .parts = {2, 3, 4}}, {.count = 3, .parts = {5, 6, 7}}};
  const auto product = spirv_evaluate(kIMul, 32, numbers, {});
  ASSERT_TRUE(product);
  EXPECT_EQ(product->count, 3u);
  EXPECT_EQ(product->parts[2], 28u);
  const uint32_t places[] = {5, 0}, beyond[] = {6}, second[] = {1}, fourth[] = {3};
  EXPECT_EQ(spirv_evaluate(kVectorShuffle, 32, numbers, places)->parts[0], 7u);
  EXPECT_EQ(spirv_evaluate(kVectorShuffle, 32, numbers, places)->parts[1], 2u);
  EXPECT_FALSE(spirv_evaluate(kVectorShuffle, 32, numbers, beyond));
  EXPECT_EQ(spirv_evaluate(kCompositeExtract, 32, std::span(numbers).first(1), second)->parts[0], 3u);
  EXPECT_FALSE(spirv_evaluate(kCompositeExtract, 32, std::span(numbers).first(1), fourth));
}

// A type that holds two of another, which holds two of another: found in time, or refused.
TEST(SpirvModuleTest, TypesThatDoubleAndDoubleEnd) {
  std::vector<uint32_t> words = {0x07230203, 0x00010500, 0, 200, 0};
  const auto add = [&](uint32_t op, std::initializer_list<uint32_t> operands) {
    words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
    words.insert(words.end(), operands);
  };
  add(15, {5, 100, 'm', 0});               // Entry point 100, "m".
  words[words.size() - 5] = 4 << 16 | 15;  // Without the empty word.
  words.pop_back();
  add(16, {100, 17, 1, 1, 1});  // Its workgroup.
  add(21, {1, 32, 0});          // u32.
  for (uint32_t i = 2; i < 60; ++i) add(30, {i, i - 1, i - 1});
  add(32, {60, 4, 59});  // A pointer to shared memory.
  add(59, {60, 61, 4});
  add(54, {2, 100, 0, 3});
  add(61, {2, 70, 61});  // Loads it.
  add(56, {});
  EXPECT_FAILS(read(words), StatusCode::kInvalidArgument, "has no size, or too large a one.");
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
