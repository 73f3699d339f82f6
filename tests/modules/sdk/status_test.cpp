// Goal: a failure made by a module is the host's, with code and sentence. Method: make, move, read.
#include "modules/sdk/status.hpp"

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "modules/host_table.hpp"
#include "tests/modules/sdk/direct_call.hpp"

namespace baton::sdk {
namespace {

TEST(Status, CarriesCodeAndSentence) {
  Status status = failure(StatusCode::kNotFound, "Device ", 3, " of ", 2.5, " is missing.");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "Device 3 of 2.500000 is missing.");
  const Status moved = std::move(status);
  EXPECT_EQ(moved.code(), StatusCode::kNotFound);
  EXPECT_TRUE(Status().ok());
}

TEST(Status, IsTheHostsOwnAcrossTheDoor) {
  Status status(StatusCode::kDataLoss, "Gone.");
  const baton::Status seen = baton::Status::adopt(reinterpret_cast<baton::Status::Failure*>(status.release()));
  EXPECT_TRUE(status.ok()) << "released";
  EXPECT_EQ(seen.to_string(), "DATA_LOSS; Gone.");
}

TEST(Result, IsAValueOrAFailure) {
  Result<int> seven = 7;
  EXPECT_EQ(*seven, 7);
  Result<int> none = Status(StatusCode::kAborted, "No.");
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message(), "No.");
  Result<int> neither = Status();
  EXPECT_EQ(neither.error().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace baton::sdk
