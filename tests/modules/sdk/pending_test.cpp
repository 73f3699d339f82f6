// Goal: a result that comes later suspends the call, wakes who waits, and is taken when the call is resumed.
// Method: shims on hand-made registers, promises completed here and on other threads.
#include "modules/sdk/pending.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/modules/sdk/direct_call.hpp"
#include "tests/modules/sdk/string_object.hpp"

namespace baton::sdk {
namespace {

// The module whose promises the test keeps.
template <typename T>
struct Source {
  Pending<T> ask() {
    promise.emplace();
    return promise->pending();
  }
  std::optional<Promise<T>> promise;
};

// Calls again as the interpreter does once the object is ready.
Status resume(DirectCall& call) {
  call.call.resumed = std::exchange(call.call.pending, nullptr);
  Status status = call.run();
  baton_object_release(std::exchange(call.call.resumed, nullptr));
  return status;
}
int32_t look(const DirectCall& call) { return call.call.pending->type->wait(call.call.pending, 0); }

TEST(Pending, HasTheSignatureOfItsResult) {
  EXPECT_STREQ(function<&Source<int64_t>::ask>("ask").signature, "v_I");
  EXPECT_STREQ(function<&Source<void>::ask>("ask").signature, "v_v");
}

TEST(Pending, SuspendsUntilThePromiseIsKept) {
  Source<int64_t> source;
  DirectCall call(function<&Source<int64_t>::ask>("ask"), &source);
  ASSERT_TRUE(call.run().ok());
  ASSERT_NE(call.call.pending, nullptr);
  EXPECT_EQ(look(call), -1);
  source.promise->complete(int64_t{42});
  EXPECT_EQ(look(call), BATON_OK);
  ASSERT_TRUE(resume(call).ok());
  EXPECT_EQ(call.call.pending, nullptr);
  EXPECT_EQ(call.values[0].i64, 42);
}

Pending<int64_t> ask_now(int64_t what) {
  if (what < 0) return failure(StatusCode::kOutOfRange, "Nothing is there.");
  return what;
}
Pending<void> ask_nothing() { return Status(); }

TEST(Pending, IsReadyAsWhatAFunctionWouldReturn) {
  DirectCall call(function<&ask_now>("ask"));
  call.values[0].i64 = 7;
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.values[0].i64, 7);
  call.values[0].i64 = -1;
  EXPECT_EQ(call.run().message(), "Nothing is there.");
  EXPECT_TRUE(DirectCall(function<&ask_nothing>("ask")).run().ok());
}

TEST(Pending, CarriesAFailure) {
  Source<int64_t> source;
  DirectCall call(function<&Source<int64_t>::ask>("ask"), &source);
  ASSERT_TRUE(call.run().ok());
  source.promise->complete(Status(StatusCode::kUnavailable, "The line is dead."));
  EXPECT_EQ(look(call), BATON_UNAVAILABLE);
  EXPECT_EQ(resume(call).message(), "The line is dead.");
}

TEST(Pending, FailsWhenItsPromiseIsDropped) {
  Source<void> source;
  DirectCall call(function<&Source<void>::ask>("ask"), &source);
  ASSERT_TRUE(call.run().ok());
  source.promise.reset();
  EXPECT_EQ(resume(call).code(), StatusCode::kAborted);
}

TEST(Pending, IsTakenAtOnceWhenItIsReady) {
  DirectCall call(function<[](int32_t x) -> Pending<int32_t> { return Outcome<int32_t>(x * 2); }>("ready"));
  call.values[0] = baton_value_of_i32(4);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.call.pending, nullptr);
  EXPECT_EQ(call.values[0].i32, 8);
}

TEST(Pending, DeliversReferences) {
  Source<Ref<StringObject>> source;
  {
    DirectCall call(function<&Source<Ref<StringObject>>::ask>("ask"), &source);
    ASSERT_TRUE(call.run().ok());
    source.promise->complete(make<StringObject>("late"));
    ASSERT_TRUE(resume(call).ok());
    EXPECT_EQ(cast<StringObject>(call.refs[0])->text, "late");
  }
  EXPECT_EQ(StringObject::alive, 0);
}

TEST(Pending, WakesAThreadThatWaits) {
  Source<int64_t> source;
  DirectCall call(function<&Source<int64_t>::ask>("ask"), &source);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.call.pending->type->wait(call.call.pending, 1'000'000), -1) << "a millisecond passes";
  std::thread worker([&source] { source.promise->complete(int64_t{7}); });
  EXPECT_EQ(call.call.pending->type->wait(call.call.pending, -1), BATON_OK);
  worker.join();
  ASSERT_TRUE(resume(call).ok());
  EXPECT_EQ(call.values[0].i64, 7);
}

}  // namespace
}  // namespace baton::sdk
