// Kernels that read matrices of push constants, each element of them: rows or columns that lie together, 2 to 4 of each, floats of 16,
// 32 and 64 bits, alone, in an array, in structs. Where an element lies is said by the test's own arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/device.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tests/hal/drivers/vulkan/watched_device.hpp"
#include "tests/hal/drivers/vulkan/written_spirv.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

using Words = std::vector<uint32_t>;
using drivers::vulkan::WrittenSpirv;

enum class Place { kAlone, kArray, kNested };

struct Layout {
  bool row_major;
  uint32_t columns, rows, width;
  Place place;

  // std430: a vector of three lies like one of four.
  uint32_t parts() const { return row_major ? columns : rows; }
  uint32_t stride() const { return (parts() == 3 ? 4 : parts()) * width / 8; }
  uint32_t matrix_bytes() const { return stride() * (row_major ? rows : columns); }
  uint32_t matrices() const { return place == Place::kAlone ? 1 : 2; }
  uint32_t byte_of(uint32_t matrix, uint32_t column, uint32_t row) const {
    const uint32_t part = (row_major ? column : row) * width / 8;
    return matrix * matrix_bytes() + (row_major ? row : column) * stride() + part;
  }
};

uint32_t value_of(uint32_t matrix, uint32_t column, uint32_t row) { return matrix * 16 + column * 4 + row + 1; }

constexpr uint32_t kNumbers = 40;  // The ids of 0, 1, 2...

void write_types(WrittenSpirv& made, const Layout& layout) {
  made.add(71, {14, 6, layout.matrix_bytes()});
  made.add(71, {22, 6, 4});
  made.add(72, {20, 0, layout.row_major ? 4u : 5u});
  made.add(72, {20, 0, 7, layout.stride()});
  made.add(72, {20, 0, 35, 0});
  made.add(72, {21, 0, 35, 0});
  made.add(72, {21, 1, 35, layout.matrix_bytes()});
  made.add(72, {23, 0, 35, 0});
  made.add(71, {layout.place == Place::kNested ? 21u : 20u, 2});
  made.add(71, {23, 2});
  made.add(71, {34, 33, 0});
  made.add(71, {34, 34, 0});
  made.add(19, {2});
  made.add(33, {3, 2});
  made.add(21, {4, 32, 0});
  made.add(22, {5, 32});
  if (layout.width != 32) made.add(22, {10, layout.width});
  const uint32_t number = layout.width == 32 ? 5 : 10;
  made.add(23, {11, number, layout.rows});
  made.add(24, {12, 11, layout.columns});
  for (uint32_t i = 0; i < 64; ++i) made.add(43, {4, kNumbers + i, i});
  made.add(28, {14, 12, kNumbers + 2});
  made.add(30, {20, layout.place == Place::kArray ? 14u : 12u});
  made.add(30, {21, 20, 20});
  made.add(32, {30, 9, layout.place == Place::kNested ? 21u : 20u});
  made.add(32, {31, 9, number});
  made.add(29, {22, 4});
  made.add(30, {23, 22});
  made.add(32, {32, 12, 23});
  made.add(32, {33, 12, 4});
  made.add(59, {32, 34, 12});
  made.add(59, {30, 35, 9});
}

// made[i] is the i-th element.
Words kernel_of(const Layout& layout) {
  WrittenSpirv made(2000, false);
  made.words[1] = 0x00010300;
  made.add(17, {1});
  if (layout.width == 16) made.add(17, {9}), made.add(17, {4435});
  if (layout.width == 64) made.add(17, {10});
  made.add(14, {0, 1});
  made.add(15, {5, 1, 'm'});
  made.add(16, {1, 17, 1, 1, 1});
  write_types(made, layout);
  made.add(54, {2, 1, 0, 3});
  made.add(248, {36});
  uint32_t id = 200, element = 0;
  for (uint32_t matrix = 0; matrix < layout.matrices(); ++matrix) {
    for (uint32_t column = 0; column < layout.columns; ++column) {
      for (uint32_t row = 0; row < layout.rows; ++row) {
        Words chain = {31, id, 35};
        if (layout.place == Place::kNested) chain.push_back(kNumbers + matrix);
        chain.push_back(kNumbers);
        if (layout.place == Place::kArray) chain.push_back(kNumbers + matrix);
        chain.insert(chain.end(), {kNumbers + column, kNumbers + row});
        made.add(65, chain);
        made.add(61, {layout.width == 32 ? 5u : 10u, id + 1, id});
        uint32_t value = id + 1;
        if (layout.width != 32) made.add(115, {5, id + 2, value}), value = id + 2;
        made.add(109, {4, id + 3, value});
        made.add(65, {33, id + 4, 34, kNumbers, kNumbers + element++});
        made.add(62, {id + 4, id + 3});
        id += 5;
      }
    }
  }
  made.add(253, std::initializer_list<uint32_t>{});
  made.add(56, std::initializer_list<uint32_t>{});
  return made.words;
}

// Whole numbers from 1 to 32 in any width.
uint64_t bits_of(uint32_t value, uint32_t width) {
  if (width == 64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return width == 32 ? bits : ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff);
}

Words constants_of(const Layout& layout) {
  Words words(layout.matrices() * layout.matrix_bytes() / 4);
  for (uint32_t matrix = 0; matrix < layout.matrices(); ++matrix) {
    for (uint32_t column = 0; column < layout.columns; ++column) {
      for (uint32_t row = 0; row < layout.rows; ++row) {
        const uint64_t bits = bits_of(value_of(matrix, column, row), layout.width);
        std::memcpy(reinterpret_cast<char*>(words.data()) + layout.byte_of(matrix, column, row), &bits,
                    layout.width / 8);
      }
    }
  }
  return words;
}

class PipelineTest : public testing_support::WatchedDeviceTest {
 protected:
  Result<Words> run(const Layout& layout) {
    const Words code = kernel_of(layout), constants = constants_of(layout);
    const ExecutableVariant variants[] = {{"spirv", std::as_bytes(std::span(code))}};
    BATON_TRY_ASSIGN(const Ref<Executable> executable,
                     device_->make_executable({.name = "matrices", .variants = variants}));
    EXPECT_EQ(executable->entry_points()[0].constant_count, constants.size());
    const Ref<Buffer> results = buffer(256);
    BATON_TRY_ASSIGN(const auto commands, device_->make_command_buffer({}));
    const Binding bindings[] = {Binding(results)};
    BATON_TRY(commands->dispatch(
        {.executable = executable.get(), .grid = {1, 1, 1}, .constants = constants, .bindings = bindings}));
    BATON_TRY_ASSIGN(const auto recording, commands->finish());
    BATON_TRY(device_->queue().execute({}, *recording, {}));
    BATON_TRY(device_->queue().wait_idle());
    return words_of(*results);
  }

  // False: the device can't.
  bool check(const Layout& layout) {
    SCOPED_TRACE(text(layout.row_major ? "rows " : "columns ", layout.columns, "x", layout.rows, " f", layout.width,
                      " place ", static_cast<int>(layout.place)));
    const Result<Words> words = run(layout);
    const auto says = [&](const char* part) { return words.error().message().find(part) != std::string::npos; };
    if (!words.has_value() && (says("' has not.") || says("bytes of push constants"))) return false;
    EXPECT_OK(words);
    if (!words.has_value()) return true;
    size_t at = 0;
    for (uint32_t matrix = 0; matrix < layout.matrices(); ++matrix) {
      for (uint32_t column = 0; column < layout.columns; ++column) {
        for (uint32_t row = 0; row < layout.rows; ++row) {
          EXPECT_EQ((*words)[at++], value_of(matrix, column, row)) << matrix << " " << column << " " << row;
        }
      }
    }
    return true;
  }
};

TEST_F(PipelineTest, EachElementIsWhereItsLayoutSays) {
  size_t ran = 0, could_not = 0;
  for (const bool row_major : {false, true}) {
    for (uint32_t columns = 2; columns <= 4; ++columns) {
      for (uint32_t rows = 2; rows <= 4; ++rows) {
        for (const uint32_t width : {16u, 32u, 64u}) {
          for (const Place place : {Place::kAlone, Place::kArray, Place::kNested}) {
            ++(check({row_major, columns, rows, width, place}) ? ran : could_not);
          }
        }
      }
    }
  }
  std::printf("%zu layouts ran, %zu are not for this device\n", ran, could_not);
  EXPECT_GE(ran, 50u);  // Of f32 every device can do these.
}

}  // namespace
}  // namespace baton::hal
