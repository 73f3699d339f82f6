// SPIR-V that is written to be misread: sizes that wrap around, what is said twice, names in odd places, and modules whose
// reading would take the time of their square. Each is read as it is, or refused with a sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "hal/drivers/vulkan/spirv_part.hpp"
#include "tests/hal/drivers/vulkan/written_spirv.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr std::string_view kTooLarge = "has no size, or too large a one.";

// 2^40 bytes, 2^15 of them, 2^8 of those, twice: 2^64 bytes of shared memory, which is no bytes.
TEST(SpirvDeclarationsTest, SharedMemoryDoesNotWrapAround) {
  WrittenSpirv made(100000);
  made.add(21, {2, 32, 0});
  made.add(21, {10, 8, 0});
  made.add(21, {11, 64, 0});
  made.add(43, {11, 12, 0, 1u << 8});  // 2^40.
  made.add(28, {13, 10, 12});
  made.add(30, [] {
    std::vector<uint32_t> members((1 << 15) + 1, 13);
    members[0] = 14;
    return members;
  }());
  made.add(30, [] {
    std::vector<uint32_t> members((1 << 8) + 1, 14);
    members[0] = 15;
    return members;
  }());
  made.add(32, {16, 4, 15});
  made.add(59, {16, 17, 4});
  made.add(59, {16, 18, 4});
  made.add_function({17, 18});
  EXPECT_FAILS(made.read(), StatusCode::kInvalidArgument, kTooLarge);
}

// Whatever is multiplied or added: counts, strides and offsets of any size.
TEST(SpirvDeclarationsTest, NoSizeWrapsAround) {
  struct Case {
    const char* name;
    void (*write)(WrittenSpirv&);  // Type 20, of u32 10 and u64 11.
    uint64_t bytes;                // 0: refused.
  };
  const Case cases[] = {
      {"vector",
       [](WrittenSpirv& made) {
         made.add(23, {20, 10, ~0u});
       },
       uint64_t{4} * ~0u},
      {"vector of u64",
       [](WrittenSpirv& made) {
         made.add(23, {20, 11, ~0u});
       },
       uint64_t{8} * ~0u},
      {"matrix of vectors",
       [](WrittenSpirv& made) {
         made.add(23, {12, 10, ~0u}), made.add(24, {20, 12, ~0u});
       },
       0},
      {"matrix of a stride",
       [](WrittenSpirv& made) {
         made.add(72, {20, 0, 7, ~0u});
         made.add(23, {12, 10, 4}), made.add(24, {13, 12, ~0u}), made.add(30, {20, 13});
       },
       0},
      {"array of a stride",
       [](WrittenSpirv& made) {
         made.add(71, {20, 6, ~0u});
         made.add(43, {11, 12, ~0u, ~0u}), made.add(28, {20, 10, 12});
       },
       0},
      {"array of all there is",
       [](WrittenSpirv& made) {
         made.add(43, {11, 12, ~0u, ~0u}), made.add(28, {20, 10, 12});
       },
       0},
      {"array of 2^62",
       [](WrittenSpirv& made) {
         made.add(43, {11, 12, 0, 1u << 30}), made.add(28, {20, 10, 12});
       },
       0},
      {"far member",
       [](WrittenSpirv& made) {
         made.add(72, {20, 0, 35, ~0u}), made.add(30, {20, 11});
       },
       uint64_t{~0u} + 8},
      {"wide number",
       [](WrittenSpirv& made) {
         made.add(21, {20, ~0u, 0});
       },
       ~0u / 8},
      {"struct that holds itself",
       [](WrittenSpirv& made) {
         made.add(30, {20, 20, 20});
       },
       0},
      {"array that holds itself",
       [](WrittenSpirv& made) {
         made.add(43, {10, 12, 2}), made.add(28, {20, 20, 12});
       },
       0},
      {"pointer to itself",
       [](WrittenSpirv& made) {
         made.add(39, {12, 5349}), made.add(30, {20, 12}), made.add(32, {12, 5349, 20});
       },
       8},
      {"array of a constant that is none",
       [](WrittenSpirv& made) {
         made.add(28, {20, 10, 11});
       },
       0},
      {"array of a quotient by zero",
       [](WrittenSpirv& made) {
         made.add(43, {10, 12, 0}), made.add(52, {10, 13, 134, 12, 12}), made.add(28, {20, 10, 13});
       },
       0},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    WrittenSpirv made(100);
    // Decorations stand before types: the case's own come first where it has any.
    WrittenSpirv only(100, false);
    one.write(only);
    std::vector<uint32_t> later;
    for (size_t at = 5; at < only.words.size(); at += only.words[at] >> 16) {
      const auto first = only.words.begin() + static_cast<ptrdiff_t>(at);
      const bool decorates = (*first & 0xffff) == 71 || (*first & 0xffff) == 72;
      auto& where = decorates ? made.words : later;
      where.insert(where.end(), first, first + (*first >> 16));
    }
    made.add(21, {2, 16, 0});
    made.add(21, {10, 32, 0});
    made.add(21, {11, 64, 0});
    made.words.insert(made.words.end(), later.begin(), later.end());
    made.add(32, {30, 4, 20});
    made.add(59, {30, 31, 4});
    made.add_function({31});
    const auto module = made.read();
    if (one.bytes == 0) {
      EXPECT_FALSE(module.has_value());
      continue;
    }
    ASSERT_OK(module);
    EXPECT_EQ(module->entry_points[0].shared_bytes, one.bytes);
  }
}

// Row-major matrices have a stride for each row, column-major ones for each column: alone, in arrays, in structs, with the
// member's decorations its own or a group's.
TEST(SpirvDeclarationsTest, MatricesAreMeasuredByTheirMajor) {
  enum Place { kAlone, kArray, kArrays, kNested };
  size_t families = 0;
  for (const bool row_major : {false, true}) {
    for (uint32_t columns = 2; columns <= 4; ++columns) {
      for (uint32_t rows = 2; rows <= 4; ++rows) {
        for (const uint32_t width : {16u, 32u, 64u}) {
          for (const Place place : {kAlone, kArray, kArrays, kNested}) {
            for (const bool by_group : {false, true}) {
              SCOPED_TRACE(text(row_major ? "rows " : "columns ", columns, "x", rows, " f", width, " place ",
                                int{place}, by_group ? " by group" : ""));
              // std430: a vector of three lies like one of four.
              const uint32_t parts = row_major ? columns : rows, vectors = row_major ? rows : columns;
              const uint32_t stride = (parts == 3 ? 4 : parts) * width / 8, matrix = stride * vectors;
              WrittenSpirv made(100);
              const uint32_t named = by_group ? 40 : 20;
              const auto decorate = [&](std::initializer_list<uint32_t> words) {
                std::vector<uint32_t> all{named};
                if (!by_group) all.push_back(0);
                all.insert(all.end(), words);
                made.add(by_group ? 71 : 72, all);
              };
              decorate({row_major ? 4u : 5u});
              decorate({7, stride});
              decorate({35, 0});
              if (by_group) made.add(73, {40}), made.add(75, {40, 20, 0});
              made.add(71, {14, 6, matrix});
              made.add(71, {15, 6, 2 * matrix});
              made.add(72, {21, 0, 35, 0});
              made.add(72, {21, 1, 35, matrix});
              made.add(21, {2, 32, 0});
              made.add(22, {10, width});
              made.add(23, {11, 10, rows});
              made.add(24, {12, 11, columns});
              made.add(43, {2, 13, 2});
              made.add(28, {14, 12, 13});
              made.add(28, {15, 14, 13});
              made.add(30, {20, place == kArray ? 14u : place == kArrays ? 15u : 12u});
              made.add(30, {21, 20, 20});
              made.add(32, {30, 9, place == kNested ? 21u : 20u});
              made.add(59, {30, 31, 9});
              made.add_function({31});
              const auto module = made.read();
              ASSERT_OK(module);
              const uint32_t times = place == kAlone ? 1 : place == kArrays ? 4 : 2;
              EXPECT_EQ(module->entry_points[0].push_bytes, times * matrix);
              ++families;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(families, 2u * 3 * 3 * 3 * 4 * 2);
}

TEST(SpirvDeclarationsTest, WhatIsSaidTwiceIsRefused) {
  const auto refused = [](std::string_view why, void (*write)(WrittenSpirv&)) {
    SCOPED_TRACE(why);
    WrittenSpirv made(100);
    write(made);
    made.add(21, {2, 32, 0});
    made.add(30, {20, 2});
    made.add_function({});
    EXPECT_FAILS(made.read(), StatusCode::kInvalidArgument, why);
  };
  constexpr std::string_view kSecondSize = "a second workgroup size for all entry points";
  refused(kSecondSize, [](WrittenSpirv& made) { made.add(71, {20, 11, 25}), made.add(71, {21, 11, 25}); });
  refused(kSecondSize, [](WrittenSpirv& made) { made.add(71, {20, 11, 25}), made.add(71, {40, 11, 25}); });
  refused(kSecondSize, [](WrittenSpirv& made) {
    made.add(71, {40, 11, 25}), made.add(73, {40}), made.add(74, {40, 20, 21});
  });
  refused("a second entry point 'm'", [](WrittenSpirv& made) { made.add(15, {5, 50, 'm'}); });
  refused("a second workgroup size for id 1", [](WrittenSpirv& made) { made.add(16, {1, 17, 2, 1, 1}); });
  refused("a second workgroup size for id 1", [](WrittenSpirv& made) { made.add(331, {1, 38, 2, 2, 2}); });
  refused("id 20 has two values of decoration 1", [](WrittenSpirv& made) {
    made.add(71, {20, 1, 0}), made.add(71, {20, 1, 1});
  });
  refused("id 20 has two values of decoration 33", [](WrittenSpirv& made) {
    made.add(71, {20, 33, 0}), made.add(71, {40, 33, 1}), made.add(74, {40, 20});
  });
  refused("member 0 of id 20 has two values of decoration 35", [](WrittenSpirv& made) {
    made.add(72, {20, 0, 35, 0}), made.add(71, {40, 35, 4}), made.add(75, {40, 20, 0});
  });
  refused("member 0 of id 20 has two values of decoration 7", [](WrittenSpirv& made) {
    made.add(72, {20, 0, 7, 8}), made.add(72, {20, 0, 7, 16});
  });
  refused("id 30 is decorated after it is defined", [](WrittenSpirv& made) {
    made.add(21, {30, 16, 0}), made.add(71, {30, 1, 0});
  });
  refused("a mode of floats of 8 bits", [](WrittenSpirv& made) { made.add(16, {1, 4462, 8}); });
  refused("a decoration lacks its value", [](WrittenSpirv& made) { made.add(71, {40, 35}); });
}

TEST(SpirvDeclarationsTest, ModesOfFloatsAreTheirEntryPoints) {
  WrittenSpirv made(100);
  made.add(15, {5, 50, 'n'});
  made.add(16, {50, 17, 1, 1, 1});
  made.add(16, {50, 4459, 32});
  made.add(16, {1, 4462, 16});
  made.add(16, {1, 4462, 16});
  made.add(21, {2, 32, 0});
  made.add_function({});
  made.add(54, {2, 50, 0, 3});
  made.add(56, std::initializer_list<uint32_t>{});
  const auto module = made.read();
  ASSERT_OK(module);
  ASSERT_EQ(module->entry_points[0].float_modes.size(), 1u);
  EXPECT_EQ(module->entry_points[0].float_modes[0].mode, 4462u);
  ASSERT_EQ(module->entry_points[1].float_modes.size(), 1u);
  EXPECT_EQ(module->entry_points[1].float_modes[0].mode, 4459u);
}

// Each instruction that can name a variable of the module, and nothing else that does.
TEST(SpirvDeclarationsTest, VariablesAreFoundWhereverTheyAreNamed) {
  const auto found = [](uint32_t storage, uint32_t op, std::initializer_list<uint32_t> operands) {
    WrittenSpirv made(100);
    made.add(11, {5, 0x4c534c47, 0x6474732e, 0x3035342e, 0});  // "GLSL.std.450".
    made.add(11, {6, 0x6e654c4f, 0});
    made.add(21, {2, 32, 0});
    made.add(32, {30, storage, 2});
    made.add(59, {30, 31, storage});
    made.add(54, {2, 1, 0, 3});
    made.add(op, operands);
    made.add(56, std::initializer_list<uint32_t>{});
    return made.read();
  };
  EXPECT_EQ(found(4, 12, {2, 32, 5, 35, 33, 31})->entry_points[0].shared_bytes, 4u);  // Modf into it.
  EXPECT_EQ(found(4, 12, {2, 32, 6, 35, 33, 31})->entry_points[0].shared_bytes, 0u);  // Another set.
  EXPECT_EQ(found(4, 59, {30, 32, 7, 31})->entry_points[0].shared_bytes, 4u);
  EXPECT_EQ(found(4, 59, {30, 32, 7})->entry_points[0].shared_bytes, 0u);
  EXPECT_EQ(found(4, 64, {33, 31, 34})->entry_points[0].shared_bytes, 4u);
  EXPECT_FAILS(found(0, 60, {2, 32, 31, 33, 34}), StatusCode::kUnimplemented, "It reads an image");
}

double seconds_of(const WrittenSpirv& made) {
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    const auto module = made.read();
    if (module.has_value()) only_entry_point(made.words, module->entry_points[0].function);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// Eight times as long ones take eight times the CPU's time, with room for maps and caches up to 32; a square takes 64.
TEST(SpirvDeclarationsTest, LongOnesTakeTheTimeOfTheirLength) {
  struct Case {
    const char* name;
    void (*write)(WrittenSpirv&, uint32_t many);
  };
  constexpr uint32_t kFirst = 100;
  const Case cases[] = {
      {"a group of every kind that is kept, for many",
       [](WrittenSpirv& made, uint32_t many) {
         for (const uint32_t kind : {1u, 2u, 3u, 4u, 6u, 7u, 33u, 34u, 35u}) made.add(71, {40, kind, 0});
         made.add(73, {40});
         for (uint32_t i = 0; i < many; ++i) made.add(74, {40, kFirst + i});
         for (uint32_t i = 0; i < many; ++i) made.add(75, {40, 41, i});
         made.add(21, {2, 32, 0});
         made.add_function({});
       }},
      {"a group that is decorated again and again",
       [](WrittenSpirv& made, uint32_t many) {
         for (uint32_t i = 0; i < many; ++i) made.add(71, {40, i + 100, 0}), made.add(74, {40, kFirst + i});
         made.add(21, {2, 32, 0});
         made.add_function({});
       }},
      {"constants made of constants",
       [](WrittenSpirv& made, uint32_t many) {
         made.add(21, {2, 32, 0});
         made.add(50, {2, kFirst, 3});
         for (uint32_t i = 0; i < many; ++i) made.add(52, {2, kFirst + 1 + i, 132, kFirst + i, kFirst});
         made.add_function({});
       }},
      {"functions that call the next",
       [](WrittenSpirv& made, uint32_t many) {
         made.add(21, {2, 32, 0});
         made.add(54, {2, 1, 0, 3});
         for (uint32_t i = 0; i < many; ++i) {
           made.add(57, {2, kFirst + many + i, kFirst + i});
           made.add(56, std::initializer_list<uint32_t>{});
           made.add(54, {2, kFirst + i, 0, 3});
         }
         made.add(56, std::initializer_list<uint32_t>{});
       }},
      {"structs of structs",
       [](WrittenSpirv& made, uint32_t many) {
         made.add(21, {2, 32, 0});
         made.add(30, {10, 2});
         std::vector<uint32_t> members(std::min<uint32_t>(many, 65000), 10);
         members[0] = 11;
         made.add(30, members);
         made.add(32, {12, 4, 11});
         for (uint32_t i = 0; i < many; ++i) made.add(59, {12, kFirst + i, 4});
         made.add(54, {2, 1, 0, 3});
         for (uint32_t i = 0; i < many; ++i) made.add(61, {2, 4, kFirst + i});
         made.add(56, std::initializer_list<uint32_t>{});
       }},
  };
  for (const Case& one : cases) {
    constexpr uint32_t kMany = 4000;
    WrittenSpirv few(40 * kMany), many(40 * kMany);
    one.write(few, kMany);
    one.write(many, 8 * kMany);
    ASSERT_OK(many.read()) << one.name;
    const double once = seconds_of(few), longer = seconds_of(many);
    EXPECT_LT(longer, 32 * once + 0.02) << one.name << ": " << once << " s, then " << longer << " s";
  }
}

// Very many entry points that all reach very much: refused, before that takes minutes.
TEST(SpirvDeclarationsTest, EntryPointsThatReachTooMuchTogetherAreRefused) {
  constexpr uint32_t kMany = 10000;
  WrittenSpirv made(3 * kMany, false);
  for (uint32_t i = 0; i < kMany; ++i) {
    made.add(15,
             {5, 100, 0x41414141 + (i & 15) + (i >> 4 & 15) * 256 + (i >> 8 & 15) * 65536 + (i >> 12) * 16777216, 0});
  }
  made.add(16, {100, 17, 1, 1, 1});
  made.add(21, {2, 32, 0});
  made.add(54, {2, 100, 0, 3});
  for (uint32_t i = 0; i < kMany; ++i) made.add(61, {2, 4, 200 + i});
  made.add(56, std::initializer_list<uint32_t>{});
  EXPECT_FAILS(made.read(), StatusCode::kOutOfRange, "reach more than 16777216 names, all together.");
}

// Capabilities that nobody knows, modes and instructions too, and debug information of any sort, are read over.
TEST(SpirvDeclarationsTest, WhatIsNotKnownIsReadOver) {
  WrittenSpirv made(100);
  made.add(17, {~0u});
  made.add(16, {1, 9999});
  made.add(331, {1, 37, 1});
  made.add(8, {90, 1, 1});
  made.add(317, std::initializer_list<uint32_t>{});
  made.add(65535, {~0u, ~0u});
  made.add(21, {2, 32, 0});
  made.add_function({});
  const auto module = made.read();
  ASSERT_OK(module);
  EXPECT_EQ(module->capabilities, std::vector<uint32_t>{~0u});
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
