// Goal: objects are counted, typed and destroyed; blobs and lists reach the host's own. Method: use each of them.
#include "modules/sdk/object.hpp"

#include <gtest/gtest.h>

#include "tests/modules/sdk/direct_call.hpp"
#include "tests/modules/sdk/string_object.hpp"

namespace baton::sdk {
namespace {

TEST(Object, IsDestroyedWithItsLastReference) {
  Ref<StringObject> first = make<StringObject>("hello");
  Ref<StringObject> second = first;
  EXPECT_EQ(first->count, 2u);
  first = nullptr;
  EXPECT_EQ(StringObject::alive, 1);
  second = Ref<StringObject>();
  EXPECT_EQ(StringObject::alive, 0);
}

TEST(Object, CastsToItsOwnTypeOnly) {
  Ref<StringObject> string = make<StringObject>("hello");
  EXPECT_EQ(cast<StringObject>(string.get()), string.get());
  EXPECT_EQ(cast<OtherObject>(string.get()), nullptr);
  EXPECT_EQ(cast<StringObject>(nullptr), nullptr);
}

TEST(Blob, HoldsBytes) {
  Ref<Blob> blob = Blob::copy("hello");
  EXPECT_EQ(blob->text(), "hello");
  EXPECT_TRUE(blob->writable());
  blob->writable_bytes()[0] = std::byte{'j'};
  EXPECT_EQ(blob->text(), "jello");
  EXPECT_EQ(Blob::make(3)->bytes()[2], std::byte{0});
  EXPECT_EQ(Blob::copy("")->text(), "");
}

TEST(Blob, OverReadOnlyMemoryGivesNothingToWrite) {
  char memory[] = "fixed";
  Ref<Blob> blob = Ref<Blob>::adopt(cast<Blob>(host().blob_wrap(memory, 5, 0, nullptr, nullptr)));
  EXPECT_EQ(blob->text(), "fixed");
  EXPECT_FALSE(blob->writable());
  EXPECT_TRUE(blob->writable_bytes().empty());
}

TEST(List, HoldsNumbersAndReferences) {
  Ref<List> list = List::make();
  ASSERT_TRUE(list->push(int32_t{-7}).ok());
  ASSERT_TRUE(list->push(2.5).ok());
  Ref<StringObject> string = make<StringObject>("kept");
  ASSERT_TRUE(list->push(string.get()).ok());
  EXPECT_EQ(string->count, 2u) << "the list retains";
  EXPECT_EQ(list->size(), 3u);
  EXPECT_EQ(*list->get<int32_t>(0), -7);
  EXPECT_EQ(*list->get<double>(1), 2.5);
  EXPECT_EQ(*list->get_ref(2), string.get());
  ASSERT_TRUE(list->set(2, int64_t{9}).ok());
  EXPECT_EQ(string->count, 1u) << "what is overwritten is released";
}

TEST(List, SaysWhatIsWrong) {
  Ref<List> list = List::make();
  ASSERT_TRUE(list->push(1.0f).ok());
  EXPECT_EQ(list->get<int32_t>(0).error().message(), "List element 0 is of type 'f', not 'i'.");
  EXPECT_EQ(list->get<float>(1).error().message(), "List index (1) is beyond the list's size (1).");
}

}  // namespace
}  // namespace baton::sdk
