// Goal: signatures and shims say and do what the C++ types say. Method: shims are called on hand-made registers.
#include "modules/sdk/function.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/modules/sdk/direct_call.hpp"
#include "tests/modules/sdk/string_object.hpp"

namespace baton::sdk {
namespace {

template <auto kFunction>
std::string signature() {
  return function<kFunction>("f").signature;
}

int32_t add(int32_t a, int32_t b) { return a + b; }
void nothing() {}
double mixed(bool, uint32_t, int64_t, uint64_t, float, double) noexcept { return 0; }
int64_t length(const StringObject& string) { return static_cast<int64_t>(string.text.size()); }
int32_t is_null(StringObject* string) { return string == nullptr; }
Ref<StringObject> same(Ref<StringObject> string) { return string; }
Ref<StringObject> create(std::string_view text) { return make<StringObject>(text); }
void scale(std::span<float> numbers, float factor) {
  for (float& number : numbers) number *= factor;
}
Status blobs_and_lists(Blob&, Blob*, List&, const List*, baton_object*) { return {}; }
Result<std::tuple<int32_t, Ref<StringObject>, double>> several(int32_t seed) {
  if (seed < 0) return failure(StatusCode::kOutOfRange, "Seed ", seed, " is negative.");
  return std::tuple(seed + 1, make<StringObject>("several"), seed * 0.5);
}
int64_t sum(int32_t first, Variadic<int32_t> numbers, Variadic<std::tuple<int64_t, StringObject&>> weighted,
            int32_t last) {
  int64_t total = first + last;
  for (int32_t number : numbers) total += number;
  for (auto [weight, string] : weighted) total += weight * length(string);
  return total;
}

struct Counter {
  int32_t add(int32_t amount) { return total += amount; }
  int32_t get() const noexcept { return total; }
  int32_t total = 0;
};

TEST(Signature, FollowsTheTypesOfParametersAndResult) {
  EXPECT_EQ(signature<&add>(), "ii_i");
  EXPECT_EQ(signature<&nothing>(), "v_v");
  EXPECT_EQ(signature<&mixed>(), "iiIIfF_F");
  EXPECT_EQ(signature<&length>(), "r<custom.string>_I");
  EXPECT_EQ(signature<&same>(), "r<custom.string>_r<custom.string>");
  EXPECT_EQ(signature<&create>(), "r<blob>_r<custom.string>");
  EXPECT_EQ(signature<&scale>(), "r<blob>f_v");
  EXPECT_EQ(signature<&blobs_and_lists>(), "r<blob>r<blob>r<list>r<list>r_v");
  EXPECT_EQ(signature<&several>(), "i_ir<custom.string>F");
  EXPECT_EQ(signature<&sum>(), "iCiDCIr<custom.string>Di_I");
  EXPECT_EQ(signature<&Counter::get>(), "v_i");
  EXPECT_EQ((signature<[](int64_t a, float) { return a; }>()), "If_I");
}

TEST(Shim, ReadsAndWritesNumbersInPlace) {
  DirectCall call(function<&add>("add"));
  call.values[0] = baton_value_of_i32(40);
  call.values[1] = baton_value_of_i32(-42);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.values[0].i32, -2);
  EXPECT_EQ(call.values[0].bits >> 32, 0u) << "the high half of an i32 is zero";
}

TEST(Shim, CallsMethodsOnTheStateOfTheContext) {
  Counter counter;
  DirectCall call(function<&Counter::add>("add"), &counter);
  call.values[0] = baton_value_of_i32(5);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(counter.total, 5);
  EXPECT_EQ(call.values[0].i32, 5);
}

TEST(Shim, RefusesNullForAReferenceParameter) {
  DirectCall call(function<&length>("string.length"));
  const Status status = call.run();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "Function 'test.string.length' takes a 'custom.string' as argument 0, not null.");
}

TEST(Shim, RefusesAnObjectOfAnotherTypeAndNamesBoth) {
  DirectCall call(function<&is_null>("string.is_null"));
  call.refs[0] = make<OtherObject>().detach();
  EXPECT_EQ(call.run().message(),
            "Function 'test.string.is_null' takes a 'custom.string' as argument 0, not a 'custom.other'.");
}

TEST(Shim, PassesNullToAPointerParameter) {
  DirectCall call(function<&is_null>("string.is_null"));
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.values[0].i32, 1);
}

TEST(Shim, KeepsCountsOfReferencesThatComeAndGo) {
  {
    DirectCall call(function<&same>("same"));
    call.refs[0] = make<StringObject>("hello").detach();
    ASSERT_TRUE(call.run().ok());
    EXPECT_EQ(call.refs[0]->count, 1u) << "the slot that held the argument holds the result, once";
    EXPECT_EQ(StringObject::alive, 1);
  }
  EXPECT_EQ(StringObject::alive, 0);
}

TEST(Shim, ReleasesWhatAResultReplaces) {
  DirectCall call(function<&create>("create"));
  Ref<Blob> text = Blob::copy("hello");
  call.refs[0] = Ref<Blob>(text).detach();
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(text->count, 1u);
  EXPECT_EQ(cast<StringObject>(call.refs[0])->text, "hello");
}

TEST(Shim, GivesBlobsAsSpansOfTheirElements) {
  DirectCall call(function<&scale>("scale"));
  const float numbers[] = {1, 2, 3};
  call.refs[0] = Blob::copy({reinterpret_cast<const char*>(numbers), sizeof(numbers)}).detach();
  call.values[0] = baton_value_of_f32(10);
  ASSERT_TRUE(call.run().ok());
  float scaled[3];
  std::memcpy(scaled, cast<Blob>(call.refs[0])->bytes().data(), sizeof(scaled));
  EXPECT_EQ(scaled[2], 30);
}

TEST(Shim, RefusesToWriteToAReadOnlyBlob) {
  DirectCall call(function<&scale>("scale"));
  float numbers[] = {1};
  call.refs[0] = host().blob_wrap(numbers, sizeof(numbers), 0, nullptr, nullptr);
  EXPECT_EQ(call.run().message(),
            "Function 'test.scale' takes a 'blob' as argument 0 to write to, and this one is read-only.");
  EXPECT_EQ(numbers[0], 1);
}

TEST(Function, SaysThatABlobHoldsNoWholeElements) {
  alignas(float) char memory[12] = {};
  const auto scale_them = [&](size_t offset, size_t size) {
    DirectCall call(function<&scale>("scale"));
    call.refs[0] = host().blob_wrap(memory + offset, size, 1, nullptr, nullptr);
    return std::string(call.run().message());
  };
  EXPECT_EQ(scale_them(0, 8), "");
  EXPECT_EQ(scale_them(0, 0), "");
  EXPECT_EQ(scale_them(0, 10), "Function 'test.scale' takes 4-byte elements as argument 0, not a blob of 10 bytes.");
  EXPECT_EQ(scale_them(2, 8),
            "Function 'test.scale' takes 4-byte elements as argument 0, not a blob of 8 bytes that are not aligned for "
            "them.");
}

TEST(Shim, StoresSeveralResultsInTheirBanks) {
  DirectCall call(function<&several>("several"));
  call.values[0] = baton_value_of_i32(6);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.values[0].i32, 7);
  EXPECT_EQ(call.values[1].f64, 3.0);
  EXPECT_EQ(cast<StringObject>(call.refs[0])->text, "several");
}

TEST(Shim, PassesAFailureOnAndLeavesResultsAlone) {
  DirectCall call(function<&several>("several"));
  call.values[0] = baton_value_of_i32(-1);
  const Status status = call.run();
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "Seed -1 is negative.");
  EXPECT_EQ(call.refs[0], nullptr);
}

TEST(Shim, ReadsVariadicSegmentsWhereTheyLie) {
  DirectCall call(function<&sum>("sum"));
  const uint16_t segments[] = {3, 2};
  call.call.segments = segments;
  const int64_t slots[] = {1000, 1, 2, 3, 10, 100, 5000};  // first; three numbers; two weights; last
  for (size_t i = 0; i < std::size(slots); ++i) call.values[i] = baton_value_of_i64(slots[i]);
  call.refs[0] = make<StringObject>("ab").detach();
  call.refs[1] = make<StringObject>("abc").detach();
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.values[0].i64, 1000 + 6 + 10 * 2 + 100 * 3 + 5000);
}

TEST(Shim, ChecksEveryElementOfASegment) {
  DirectCall call(function<&sum>("sum"));
  const uint16_t segments[] = {0, 2};
  call.call.segments = segments;
  call.refs[0] = make<StringObject>("ab").detach();
  EXPECT_EQ(call.run().message(), "Function 'test.sum' takes a 'custom.string' as argument 2, not null.");
}

#if defined(__cpp_exceptions)
void throw_nested() {
  try {
    try {
      throw 5;
    } catch (...) {
      std::throw_with_nested(std::logic_error("inner"));
    }
  } catch (...) {
    std::throw_with_nested(std::runtime_error("outer"));
  }
}

TEST(Shim, TurnsAThrowIntoAFailure) {
  DirectCall thrown(function<[](int32_t) -> int32_t { throw std::runtime_error("no luck"); }>("try"));
  const Status status = thrown.run();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(), "Function 'test.try' threw: no luck");

  DirectCall number(function<[] { throw 3; }>("odd"));
  EXPECT_EQ(number.run().message(), "Function 'test.odd' threw: something that is no std::exception");
  DirectCall literal(function<[] { throw "no std::exception"; }>("odd"));
  EXPECT_EQ(literal.run().message(), "Function 'test.odd' threw: no std::exception");
  DirectCall text(function<[] { throw std::string("none either"); }>("odd"));
  EXPECT_EQ(text.run().message(), "Function 'test.odd' threw: none either");
  DirectCall null(function<[] { throw static_cast<const char*>(nullptr); }>("odd"));
  EXPECT_EQ(null.run().message(), "Function 'test.odd' threw: a null pointer");
  DirectCall nested(function<&throw_nested>("nested"));
  EXPECT_EQ(nested.run().message(), "Function 'test.nested' threw: outer: inner: something that is no std::exception");
}
#endif

}  // namespace
}  // namespace baton::sdk
