// What a dispatch does, from what the compiler left in the module and from the words that the dispatch has.
#include "tools/support/work_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::tools {
namespace {

using testing::Optional;

TEST(WorkTableTest, SumsAndProductsOfWords) {
  WorkTable table;
  table.add("flops.main_0.main_0_matmul", "2*w0*w2*w2 + 64");
  table.add("flops.main_1.main_1_generic", "12");
  table.add("abi.model", "7");
  EXPECT_THAT(table.flops("main_0", "main_0_matmul", "3 ? 10"), Optional(2.0 * 3 * 10 * 10 + 64));
  EXPECT_THAT(table.flops("main_1", "main_1_generic", ""), Optional(12.0));
  EXPECT_THAT(table.flops("main_0", "main_0_matmul", "4000000000 0 4000000000"), Optional(2.0 * 4e9 * 4e9 * 4e9 + 64));
}

TEST(WorkTableTest, WhatIsNotKnownHasNoNumber) {
  WorkTable table;
  table.add("flops.a.b", "2*w1");
  EXPECT_EQ(table.flops("a", "b", "1 ?"), std::nullopt);
  EXPECT_EQ(table.flops("a", "b", "1"), std::nullopt);
  EXPECT_EQ(table.flops("a", "c", "1 2"), std::nullopt);
  table.add("flops.a.d", "two");
  table.add("flops.a.e", "2*w");
  EXPECT_EQ(table.flops("a", "d", ""), std::nullopt);
  EXPECT_EQ(table.flops("a", "e", "1"), std::nullopt);
}

TEST(WorkTableTest, TwoProgramsThatDisagreeHaveNoNumber) {
  WorkTable table;
  table.add("flops.a.b", "2");
  table.add("flops.a.b", "2");
  EXPECT_THAT(table.flops("a", "b", ""), Optional(2.0));
  table.add("flops.a.b", "3");
  EXPECT_EQ(table.flops("a", "b", ""), std::nullopt);
}

}  // namespace
}  // namespace baton::tools
