#include "hal/slot_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::hal {
namespace {

using testing::ElementsAre;

std::vector<size_t> sets_from(const SlotTable& table, uint64_t version) {
  std::vector<size_t> slots;
  EXPECT_TRUE(table.visit_sets_from(version, [&](size_t slot) { slots.push_back(slot); }));
  return slots;
}

BufferRange range_at(uint64_t offset) { return {nullptr, offset, 8}; }

TEST(SlotTableTest, TellsWhatWasSetSince) {
  SlotTable table(100);
  table.set(3, range_at(0));
  const uint64_t then = table.version();
  table.set(7, range_at(8));
  table.set(99, range_at(16));
  table.set(7, range_at(24));
  EXPECT_THAT(sets_from(table, then), ElementsAre(7, 99, 7));
  EXPECT_THAT(sets_from(table, table.version()), ElementsAre());
  EXPECT_EQ(table[7].offset, 24u);
  EXPECT_EQ(table.table().buffers[99].offset, 16u);
}

TEST(SlotTableTest, SaysWhenItDoesNotRemember) {
  SlotTable table(4);
  for (int i = 0; i < 1000; ++i) table.set(1, range_at(0));
  EXPECT_FALSE(table.visit_sets_from(0, [](size_t) { ADD_FAILURE(); }));
  EXPECT_EQ(sets_from(table, table.version() - 16), std::vector<size_t>(16, 1));
}

TEST(SlotTableTest, IsToldFromEveryOther) {
  const SlotTable one(1), other(1);
  EXPECT_NE(one.identity(), other.identity());
  EXPECT_NE(one.identity(), 0u);
}

}  // namespace
}  // namespace baton::hal
