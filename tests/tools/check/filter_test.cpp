// Patterns take the tests that GoogleTest's would.
#include "tools/check/filter.hpp"

#include <gtest/gtest.h>

namespace baton::tools::check {
namespace {

TEST(FilterTest, StarsAndQuestionMarksStandForLetters) {
  for (const char* pattern : {"*", "a.b", "a*", "*b", "*.*", "a?b", "**a**.**b**"}) {
    EXPECT_TRUE(matches(pattern, "a.b")) << pattern;
  }
  for (const char* pattern : {"", "a", "a.", "a?", "?b", "b*", "a.b?", "*c*"}) {
    EXPECT_FALSE(matches(pattern, "a.b")) << pattern;
  }
  EXPECT_TRUE(matches("*ab", "aab"));
  EXPECT_TRUE(matches("a*b*c", "abbcbc"));
  EXPECT_TRUE(matches("*", ""));
}

TEST(FilterTest, ListsTakeAndLeaveOut) {
  EXPECT_TRUE(Filter("").takes("m.a"));
  EXPECT_TRUE(Filter("m.a:m.b").takes("m.b"));
  EXPECT_FALSE(Filter("m.a:m.b").takes("m.c"));
  EXPECT_FALSE(Filter("m.*-m.a:m.b").takes("m.b"));
  EXPECT_TRUE(Filter("m.*-m.a:m.b").takes("m.c"));
  EXPECT_TRUE(Filter("-m.a").takes("m.b"));
  EXPECT_FALSE(Filter("-m.a").takes("m.a"));
}

}  // namespace
}  // namespace baton::tools::check
