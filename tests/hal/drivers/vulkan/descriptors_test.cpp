// Kernels by descriptors as strangers write and compile them: each kind in kinds/ as each form of compilers' output, unoptimized with
// debug information, fast, small, in SPIR-V 1.0 to 1.6, from GLSL, HLSL and by hand. Each runs and makes what it should,
// or is refused with a sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string_view>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/device.hpp"
#include "hal/drivers/vulkan/spirv_module.hpp"
#include "hal/drivers/vulkan/spirv_part.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "shader_kinds.hpp"
#include "tests/hal/drivers/vulkan/watched_device.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

using Words = std::vector<uint32_t>;

constexpr uint32_t kThreads = 64;

struct Kind {
  std::string_view name;                   // Of a file, or what its forms begin with.
  uint32_t (*made)(uint32_t i) = nullptr;  // The word at i that comes out; null: it is refused,
  std::string_view refused = {};           // with this.
  Words constants = {};                    // Specialization.
  Words pushed = {};
  uint32_t workgroups = 1;
  uint32_t words = kThreads;  // How many come out.
  Words given = {};           // Else 0 to 63.
};

uint32_t half_word(uint32_t i) {
  // Halves of -16 to 15.5 in turns of two, as f16: all are exact.
  const auto half = [](uint32_t at) -> uint32_t {
    const float value = (static_cast<float>(at ^ 1) - 32) * 0.5f;
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return value == 0 ? 0 : (bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff);
  };
  return half(2 * i) | half(2 * i + 1) << 16;
}

uint32_t wide_word(uint32_t i) {
  if (i < 2) return i == 1 ? 2016 : 0;
  const uint32_t number = (i - 2) / 2;
  const auto bits = std::bit_cast<uint64_t>(static_cast<double>(number) * 0.5);
  return static_cast<uint32_t>(i % 2 == 0 ? bits : bits >> 32);
}

const std::vector<Kind>& kinds() {
  static const Words identity = [] {
    Words floats(16);
    for (uint32_t i = 0; i < 16; ++i) floats[i] = std::bit_cast<uint32_t>(static_cast<float>(i));
    return floats;
  }();
  static const std::vector<Kind> all = {
      {.name = "spec_size",
       .made = [](uint32_t i) { return i / 16 * 16 + 15 - i % 16; },
       .constants = {16},
       .workgroups = 4},
      {.name = "spec_size", .made = [](uint32_t i) { return 63 - i; }, .constants = {64}},
      {.name = "spec_size_some",
       .made = [](uint32_t i) { return (i ^ 1) + 16; },
       .constants = {0, 0, 0, 8},
       .words = 16},
      {.name = "spec_array", .made = [](uint32_t i) { return i + 64; }},
      {.name = "spec_array", .made = [](uint32_t i) { return i + 72; }, .constants = {0, 9, 7}},
      {.name = "spec_array", .refused = "bytes of shared memory", .constants = {0, 1u << 24, 1}},
      {.name = "spec_types", .made = [](uint32_t) { return 4u; }},
      {.name = "spec_types", .made = [](uint32_t) { return 113u; }, .constants = {9, 5, 6, 0x3f800000}},
      {.name = "spec_widths", .made = [](uint32_t) { return 19u; }},
      {.name = "spec_widths",
       .made = [](uint32_t) { return 1u + 2 + 4 + 6 + 7 + 1; },
       .constants = {1, 2, 0, 0x40100000, 6, 7, 0x3c00}},
      {.name = "spec_widths",
       .refused = "Specialization constant 0 has 64 bits and takes two words, 0 and 1; 1 words are given.",
       .constants = {1}},
      {.name = "shared_bools", .made = [](uint32_t i) { return (i % 2 == 0 ? 10u : 20u) + 3; }},
      // 16 bytes of a count and padding, then 96 of p, q, two of a and b, and a matrix of 48.
      {.name = "structs", .made = [](uint32_t) { return 2007u; }, .given = Words(4 + 2 * 28, 7)},
      {.name = "bytes", .made = [](uint32_t i) { return 25600 + i; }},
      {.name = "rows",
       .made =
           [](uint32_t i) {
             const uint32_t row = i % 4;
             return std::bit_cast<uint32_t>(static_cast<float>(16 * row + 6 + (row < 3 ? 1 : 0)));
           },
       .words = 256,
       .given = identity},
      {.name = "halves", .made = half_word, .words = 32},
      {.name = "wide", .made = wide_word, .words = 130},
      {.name = "float_atomics",
       .made = [](uint32_t i) { return std::bit_cast<uint32_t>(i == 0 ? 2016.0f : 64.0f); },
       .words = 2},
      {.name = "shared_blocks", .made = [](uint32_t i) { return i ^ 3; }},
      {.name = "push_holes",
       .made = [](uint32_t) { return 3u + 2 + 1 + 9 + 5; },
       .pushed = {0, 3, 0x40000000, 0, 0, 0x3f800000, 0, 9, 0, 0, 0, 0, 0, 5}},
      {.name = "push_small", .made = [](uint32_t) { return 0x00040302u + 1; }, .pushed = {0x00040302, 0x00003c00}},
      {.name = "push_array",
       .made = [](uint32_t i) { return i % 32 * 3; },
       .pushed =
           [] {
             Words pushed(32);
             for (uint32_t i = 0; i < 32; ++i) pushed[i] = 3 * i;
             return pushed;
           }()},
      {.name = "subgroups", .made = [](uint32_t i) { return i ^ 1; }},
      {.name = "memory_model", .made = [](uint32_t i) { return i + 1; }},
      {.name = "locals",
       .made =
           [](uint32_t i) {
             constexpr uint32_t table[] = {3, 1, 4, 1, 5, 9, 2, 6};
             return i * 7 % 32 * i + table[i % 8] + i % 4 + 1 + i;
           }},
      {.name = "length", .made = [](uint32_t) { return 64512u; }},
      {.name = "include", .made = [](uint32_t i) { return i + 5; }},
      {.name = "clock",
       .refused = "The code needs ShaderClockKHR, capability 5055 of SPIR-V, which Baton does not turn on."},
      {.name = "image", .refused = "It reads an image, a sampler or a texel buffer; bindings are storage buffers."},
      {.name = "sampler", .refused = "It reads an image, a sampler or a texel buffer; bindings are storage buffers."},
      {.name = "texels", .refused = "It reads an image, a sampler or a texel buffer; bindings are storage buffers."},
      {.name = "uniforms", .refused = "It reads a uniform buffer; bindings are storage buffers."},
      {.name = "buffers", .refused = "Binding 0 is an array of storage buffers."},
      {.name = "other_set", .refused = "A storage buffer is not a binding of descriptor set 0."},
      {.name = "turned", .made = [](uint32_t i) { return 63 - i; }},
      {.name = "chosen_buffer", .made = [](uint32_t i) { return i % 2 == 1 ? i : 0; }},
      {.name = "grouped", .made = [](uint32_t i) { return i + 1; }},
      {.name = "size_by_mode", .made = [](uint32_t i) { return i + 64; }, .constants = {32}},
  };
  return all;
}

// The forms of a kind are named after it: `spec_size_old`, but not `spec_size_some_old`.
bool is_form_of(std::string_view file, std::string_view kind) {
  if (!file.starts_with(kind)) return false;
  const std::string_view rest = file.substr(kind.size());
  constexpr std::string_view kForms[] = {"", "_plain", "_debug", "_fast", "_old", "_oldest", "_new"};
  return std::find(std::begin(kForms), std::end(kForms), rest) != std::end(kForms);
}

class ShaderKindsTest : public testing_support::WatchedDeviceTest {
 protected:
  Result<Words> run(const Kind& kind, std::span<const unsigned char> code) {
    const ExecutableVariant variants[] = {{"spirv", std::as_bytes(code)}};
    BATON_TRY_ASSIGN(const Ref<Executable> executable,
                     device_->make_executable({.name = kind.name, .variants = variants, .constants = kind.constants}));
    Words numbers(kThreads);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<Ref<Buffer>> buffers = {buffer_of(kind.given.empty() ? numbers : kind.given), buffer_of(Words(512))};
    std::vector<Binding> bindings;
    for (uint32_t i = 0; i < executable->entry_points()[0].binding_count; ++i) {
      if (i >= buffers.size()) buffers.push_back(buffer_of(Words(512)));
      bindings.emplace_back(buffers[i]);
    }
    BATON_TRY_ASSIGN(const auto commands, device_->make_command_buffer({}));
    BATON_TRY(commands->dispatch({.executable = executable.get(),
                                  .grid = {kind.workgroups, 1, 1},
                                  .constants = kind.pushed,
                                  .bindings = bindings}));
    BATON_TRY_ASSIGN(const auto recording, commands->finish());
    BATON_TRY(device_->queue().execute({}, *recording, {}));
    BATON_TRY(device_->queue().wait_idle());
    return words_of(*buffers[1]);
  }

  void check(const Kind& kind, std::string_view form, std::span<const unsigned char> code) {
    SCOPED_TRACE(form);
    const Result<Words> words = run(kind, code);
    if (!kind.made) {
      ASSERT_FALSE(words.has_value());
      EXPECT_NE(words.error().message().find(kind.refused), std::string::npos) << words.error().message();
      return;
    }
    if (!words.has_value() && words.error().message().find("' has not.") != std::string::npos) {
      std::printf("%s is not for this device: %s\n", std::string(form).c_str(), words.error().to_string().c_str());
      return;
    }
    ASSERT_OK(words);
    for (uint32_t i = 0; i < kind.words; ++i) ASSERT_EQ((*words)[i], kind.made(i)) << "at " << i;
  }
};

TEST_F(ShaderKindsTest, EachRunsOrIsRefusedWithASentence) {
  for (const Kind& kind : kinds()) {
    size_t forms = 0;
    for (const auto& [name, code] : kKinds) {
      if (!is_form_of(name, kind.name)) continue;
      ++forms;
      check(kind, name, code);
    }
    EXPECT_NE(forms, 0u) << kind.name;
  }
}

// No file is left out.
TEST_F(ShaderKindsTest, EachFileIsExpectedToDoSomething) {
  for (const auto& [name, code] : kKinds) {
    EXPECT_TRUE(std::any_of(kinds().begin(), kinds().end(), [&](const Kind& kind) {
      return is_form_of(name, kind.name);
    })) << name;
  }
}

// Every kind with words that are changed at random: an answer each, whatever it is, and parts of what is read are made.
// AddressSanitizer watches.
TEST(ShaderKindsBrokenTest, IsRefusedOrRead) {
  namespace vulkan = drivers::vulkan;
  std::mt19937 random(11);
  size_t read = 0, refused = 0;
  for (const auto& [name, code] : kKinds) {
    SCOPED_TRACE(name);
    Words words(code.size() / 4);
    std::memcpy(words.data(), code.data(), code.size());
    const uint32_t constants[] = {static_cast<uint32_t>(random()), 0, ~0u};
    for (int round = 0; round < 100; ++round) {
      Words changed = words;
      for (auto change = random() % 4; change > 0; --change) {
        uint32_t& word = changed[5 + random() % (changed.size() - 5)];
        switch (random() % 4) {
          case 0: word = static_cast<uint32_t>(random()); break;
          case 1: word ^= 1u << random() % 32; break;
          case 2: word = static_cast<uint32_t>(random() % 64); break;
          default: word = changed[5 + random() % (changed.size() - 5)];
        }
      }
      if (random() % 8 == 0) changed.resize(5 + random() % (changed.size() - 5));
      const auto answer = vulkan::read_spirv(std::as_bytes(std::span(changed)), constants);
      ++(answer.has_value() ? read : refused);
      if (!answer.has_value()) {
        EXPECT_FALSE(answer.error().message().empty());
        continue;
      }
      ASSERT_FALSE(answer->entry_points.empty());
      EXPECT_GE(vulkan::only_entry_point(changed, answer->entry_points[0].function).size(), 5u);
    }
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace baton::hal
