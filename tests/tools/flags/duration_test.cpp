// Durations in every unit; all else is a sentence.
#include "tools/flags/duration.hpp"

#include <gtest/gtest.h>

namespace baton::tools::flags {
namespace {

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(*parse_duration_ns("250ns"), 250);
  EXPECT_EQ(*parse_duration_ns("3us"), 3'000);
  EXPECT_EQ(*parse_duration_ns("500ms"), 500'000'000);
  EXPECT_EQ(*parse_duration_ns("1.5s"), 1'500'000'000);
  EXPECT_EQ(*parse_duration_ns("2min"), 120'000'000'000);
}

TEST(Duration, RefusesTheRest) {
  for (const char* text : {"", "5", "s", "-1s", "0s", "1 s", "1h", "nans", "1e300s", "1ss"}) {
    const Result<int64_t> duration = parse_duration_ns(text);
    ASSERT_FALSE(duration.has_value()) << text;
    EXPECT_EQ(duration.error().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace baton::tools::flags
