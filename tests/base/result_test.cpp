// A result is a value or the reason why there is none, and BATON_TRY_ASSIGN takes it apart.
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace baton {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return failure(StatusCode::kInvalidArgument, number, " is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  BATON_TRY_ASSIGN(const int halved, half(number));
  BATON_TRY_ASSIGN(const int quartered, half(halved));
  return quartered;
}

TEST(Result, HoldsAValue) {
  const Result<int> result = half(8);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), 4);
  EXPECT_EQ(*result, 4);
  EXPECT_TRUE(result.error().ok());
}

TEST(Result, HoldsAFailure) {
  const Result<int> result = half(7);
  EXPECT_FALSE(result.has_value());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().to_string(), "INVALID_ARGUMENT; 7 is odd");
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ReachesAndChangesItsValue) {
  Result<std::string> result = std::string("sum");
  EXPECT_EQ(result->size(), 3u);
  *result += "s";
  result.value() += "!";
  EXPECT_EQ(*result, "sums!");
}

TEST(Result, GivesItsFailureAway) {
  Result<int> result = half(3);
  const Status status = std::move(result).error().with_context("while halving");
  EXPECT_EQ(status.message(), "3 is odd\n  while halving");
}

TEST(Result, TryAssignUnwrapsOrReturns) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message(), "3 is odd");
  EXPECT_EQ(quarter(5).error().message(), "5 is odd");
}

// Where a statement would do, braces hold the several that the macro is; a name may be declared again in each.
Status halve_some(bool first, bool second, int& sum) {
  if (first) {
    BATON_TRY_ASSIGN(const int halved, half(10));
    sum += halved;
  }
  if (second) {
    BATON_TRY_ASSIGN(const int halved, half(9));
    sum += halved;
  }
  return {};
}

TEST(Result, TryAssignWorksInsideBraces) {
  int sum = 0;
  EXPECT_TRUE(halve_some(true, false, sum).ok());
  EXPECT_EQ(sum, 5);
  EXPECT_EQ(halve_some(true, true, sum).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(sum, 10);  // what stood before the failure has happened
}

TEST(Result, TryAssignAssignsToWhatExists) {
  const auto into = [](std::string& target) -> Status {
    BATON_TRY_ASSIGN(target, Result<std::string>(std::string("assigned")));
    return {};
  };
  std::string target;
  EXPECT_TRUE(into(target).ok());
  EXPECT_EQ(target, "assigned");
}

TEST(ResultDeathTest, StopsAtAValueThatIsNotThere) {
  EXPECT_DEATH(static_cast<void>(half(1).value()), "check failed");
  EXPECT_DEATH(static_cast<void>(Result<int>(Status())), "check failed");  // ok, and yet no value
}

}  // namespace
}  // namespace baton
