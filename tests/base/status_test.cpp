// A failure keeps its code, its sentence and its place, gains context on the way up, and travels as a bare pointer.
#include "base/status.hpp"

#include <gtest/gtest.h>

namespace baton {
namespace {

Status not_found() { return failure(StatusCode::kNotFound, "no export '", "sum", "' among ", 3); }

TEST(Status, BeginsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.to_string(), "OK");
}

TEST(Status, JoinsTheSentenceFromPieces) {
  const Status status = not_found();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no export 'sum' among 3");
  EXPECT_EQ(status.to_string(), "NOT_FOUND; no export 'sum' among 3");
}

TEST(Status, NamesEveryCodeAndNoOther) {
  EXPECT_EQ(status_code_name(StatusCode::kOk), "OK");
  EXPECT_EQ(status_code_name(StatusCode::kUnknown), "UNKNOWN");
  for (int32_t code = 0; code <= 16; ++code) {
    const bool unknown = status_code_name(static_cast<StatusCode>(code)) == "UNKNOWN";
    EXPECT_EQ(unknown, code == 2) << code;
  }
  EXPECT_EQ(status_code_name(static_cast<StatusCode>(17)), "UNKNOWN");
  EXPECT_EQ(status_code_name(static_cast<StatusCode>(-1)), "UNKNOWN");
}

// Else a plugin that returns a failure with code 0 would be taken for one that succeeded.
TEST(Status, KeepsAFailureThatCarriesOk) {
  const Status status(StatusCode::kOk, "neither");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kUnknown);
}

// Whoever reads a message as C does sees all of it.
TEST(Status, AZeroInAMessageIsWrittenOut) {
  constexpr std::string_view kZeros("a\0b\0", 4);
  const Status status = failure(StatusCode::kAborted, kZeros, "c").with_context(kZeros);
  EXPECT_EQ(status.message(), "a\\0b\\0c\n  a\\0b\\0");
}

TEST(Status, AppendsALineForEachContext) {
  const Status status = not_found().with_context("while linking 'app'").with_context("while loading 'app.bvm'");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no export 'sum' among 3\n  while linking 'app'\n  while loading 'app.bvm'");
  EXPECT_TRUE(Status().with_context("while nothing failed").ok());
}

TEST(Status, ClonesAreIndependent) {
  Status original = not_found();
  const Status copy = original.clone();
  original = std::move(original).with_context("later");
  EXPECT_EQ(copy.to_string(), "NOT_FOUND; no export 'sum' among 3");
  EXPECT_EQ(original.message(), "no export 'sum' among 3\n  later");
  EXPECT_TRUE(Status().clone().ok());
}

TEST(Status, MovesLeaveOkBehind) {
  Status source = not_found();
  const Status target = std::move(source);
  EXPECT_TRUE(source.ok());  // NOLINT(bugprone-use-after-move): that it is ok is promised.
  EXPECT_FALSE(target.ok());
}

TEST(Status, TravelsAsAnOwnedPointer) {
  const uint32_t line = __LINE__ + 1;
  Status status = failure(StatusCode::kDataLoss, "torn");
  Status::Failure* owned = status.release();
  EXPECT_TRUE(status.ok());
  ASSERT_NE(owned, nullptr);
  EXPECT_STREQ(owned->file, __FILE__);
  EXPECT_EQ(owned->line, line);
  EXPECT_EQ(Status::adopt(owned).to_string(), "DATA_LOSS; torn");

  EXPECT_EQ(Status().release(), nullptr);
  EXPECT_TRUE(Status::adopt(nullptr).ok());
}

TEST(Status, ClonesRememberThePlaceOfTheOriginal) {
  const uint32_t line = __LINE__ + 1;
  const Status original = failure(StatusCode::kInternal, "here");
  Status copy = original.clone();
  Status::Failure* owned = copy.release();
  EXPECT_EQ(owned->line, line);
  copy = Status::adopt(owned);
}

// Counts how often what stands after the macro was reached.
Status tries(Status inner, int& reached) {
  BATON_TRY(std::move(inner));
  ++reached;
  return {};
}

Status tries_with_context(Status inner, std::string_view path) {
  BATON_TRY_CONTEXT(std::move(inner), "while loading '", path, "'");
  return {};
}

TEST(Status, TryReturnsFailuresAndGoesOnElse) {
  int reached = 0;
  EXPECT_TRUE(tries(Status(), reached).ok());
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(tries(not_found(), reached).code(), StatusCode::kNotFound);
  EXPECT_EQ(reached, 1);
}

TEST(Status, TryContextAddsItsLineToFailuresOnly) {
  EXPECT_TRUE(tries_with_context(Status(), "a.bvm").ok());
  EXPECT_EQ(tries_with_context(not_found(), "a.bvm").message(), "no export 'sum' among 3\n  while loading 'a.bvm'");
}

// As one statement, the macro may stand between `if` and `else`.
Status tries_on(bool condition) {
  if (condition)
    BATON_TRY(not_found());
  else
    return failure(StatusCode::kAborted, "other branch");
  return {};
}

TEST(Status, TryIsOneStatement) {
  EXPECT_EQ(tries_on(true).code(), StatusCode::kNotFound);
  EXPECT_EQ(tries_on(false).code(), StatusCode::kAborted);
}

}  // namespace
}  // namespace baton
