// A broken invariant stops the process and says where; one that holds costs nothing but its evaluation.
#include "base/check.hpp"

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Check, EvaluatesItsConditionOnce) {
  int evaluated = 0;
  BATON_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, IsOneStatement) {
  bool other = false;
  if (other)
    BATON_CHECK(false);
  else
    other = true;
  EXPECT_TRUE(other);
}

TEST(CheckDeathTest, SaysWhatFailedAndWhere) {
  const int registers = 3;
  EXPECT_DEATH(BATON_CHECK(registers < 2), "check_test.cpp:[0-9]+: check failed: registers < 2");
}

#ifdef NDEBUG
TEST(Assert, IsNotEvaluatedInRelease) {
  int evaluated = 0;
  BATON_ASSERT(++evaluated == 0);
  EXPECT_EQ(evaluated, 0);
}
#else
TEST(AssertDeathTest, ChecksInDebug) { EXPECT_DEATH(BATON_ASSERT(1 > 2), "check failed: 1 > 2"); }
#endif

}  // namespace
}  // namespace baton
