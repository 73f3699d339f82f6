// Statuses in tests: EXPECT_OK(call), EXPECT_FAILS(call, StatusCode::kNotFound, "part of the sentence").
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.hpp"

namespace baton::testing_support {

inline const Status& status_of(const Status& status) { return status; }
template <typename T>
Status status_of(const Result<T>& result) {
  return result.has_value() ? Status() : result.error().clone();
}

template <typename Outcome>
testing::AssertionResult fails(const Outcome& outcome, StatusCode code, std::string_view part) {
  const Status& status = status_of(outcome);
  if (status.code() == code && status.message().find(part) != std::string_view::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "wanted " << status_code_name(code) << " with \"" << part << "\", got "
                                     << status.to_string();
}

template <typename Outcome>
testing::AssertionResult succeeds(const Outcome& outcome) {
  const Status& status = status_of(outcome);
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status.to_string();
}

}  // namespace baton::testing_support

#define EXPECT_OK(outcome) EXPECT_TRUE(::baton::testing_support::succeeds(outcome))
#define ASSERT_OK(outcome) ASSERT_TRUE(::baton::testing_support::succeeds(outcome))
#define EXPECT_FAILS(outcome, code, part) EXPECT_TRUE(::baton::testing_support::fails(outcome, code, part))
