// What pays is decided by measured costs: one bad sample must not decide, and a change must be noticed soon.
#include "hal/drivers/local/measured_cost.hpp"

#include <gtest/gtest.h>

namespace baton::hal::drivers::local {
namespace {

TEST(MeasuredCostTest, TheFirstSampleIsTakenAsItIs) {
  MeasuredCost cost;
  EXPECT_FALSE(cost.known());
  cost.add(1000, 10);
  EXPECT_EQ(cost.ns(), 100);
}

TEST(MeasuredCostTest, NothingIsEverFree) {
  MeasuredCost cost;
  cost.add(0);
  EXPECT_TRUE(cost.known());
}

TEST(MeasuredCostTest, AThreadThatLostItsProcessorIsForgottenSoon) {
  MeasuredCost cost(20);
  cost.add(50'000'000);
  EXPECT_LT(cost.ns(), 5'000);
  for (int i = 0; i < 8; ++i) cost.add(20);
  EXPECT_LT(cost.ns(), 40);
}

TEST(MeasuredCostTest, WhatTakesLongFromNowOnIsNoticedSoon) {
  MeasuredCost cost(20);
  for (int i = 0; i < 3; ++i) cost.add(10'000'000);
  EXPECT_GT(cost.ns(), 100'000);
}

}  // namespace
}  // namespace baton::hal::drivers::local
