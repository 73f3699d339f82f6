// Messages are joined from pieces exactly, and a misspelt name finds its neighbours.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <vector>

namespace baton {
namespace {

TEST(Text, JoinsPiecesOfEveryKind) {
  EXPECT_EQ(text("needs ", 2, " words, has ", 3u, '.'), "needs 2 words, has 3.");
  EXPECT_EQ(text(std::string("a"), std::string_view("b\0c", 3)), std::string("ab\0c", 4));
}

TEST(Text, PrintsIntegersToTheirEnds) {
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text(int8_t{-128}, ' ', uint8_t{65}), "-128 65");  // bytes are numbers, only char is a letter
}

TEST(Text, PrintsTheShortestDoubleThatReadsBack) {
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text(100.0), "100");
  EXPECT_EQ(text(-0.0), "-0");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "inf");
  for (const double number : {1.0 / 3, 1e23, 5e-324, std::numeric_limits<double>::max()})
    EXPECT_EQ(std::strtod(text(number).c_str(), nullptr), number);
}

TEST(Text, PrintsHexadecimalWithItsPrefix) {
  EXPECT_EQ(text("at ", hex(0x40)), "at 0x40");
  EXPECT_EQ(text(hex(0)), "0x0");
  EXPECT_EQ(text(hex(std::numeric_limits<uint64_t>::max())), "0xffffffffffffffff");
}

std::string nearest(std::string_view name, std::vector<std::string_view> candidates) {
  return nearest_names(name, candidates);
}

TEST(NearestNames, FindsNothingFarAway) {
  EXPECT_EQ(nearest("sum", {}), "");
  EXPECT_EQ(nearest("sum", {"multiply", "xyz"}), "");
  EXPECT_EQ(nearest("", {"ab", "i1"}), "");
  EXPECT_EQ(nearest("5", {"i1", "f"}), "");
  EXPECT_EQ(nearest("i2", {"i1", "f8"}), "did you mean 'i1'?");
}

TEST(NearestNames, PutsTheBestFirst) {
  EXPECT_EQ(nearest("sun", {"sum"}), "did you mean 'sum'?");
  EXPECT_EQ(nearest("sum", {"stub", "sub"}), "did you mean 'sub' or 'stub'?");
}

TEST(NearestNames, ShowsAtMostThree) {
  EXPECT_EQ(nearest("aaa", {"aad", "aac", "abb", "aab"}), "did you mean 'aab', 'aac' or 'aad'?");
}

TEST(NearestNames, CountsInsertedAndMissingLetters) {
  EXPECT_EQ(nearest("copy_bufer", {"copy_buffer", "fill_buffer"}), "did you mean 'copy_buffer'?");
  EXPECT_EQ(nearest("b", {"ab", "abc"}), "did you mean 'ab' or 'abc'?");
}

TEST(NearestNames, ForgivesMoreInLongNames) {
  EXPECT_EQ(nearest("command_buffer.copy", {"commandbuffer.kopi"}), "did you mean 'commandbuffer.kopi'?");
}

}  // namespace
}  // namespace baton
