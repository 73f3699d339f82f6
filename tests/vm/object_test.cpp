// Objects are counted, from any number of threads, and destroyed by their type once.
#include "vm/object.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/native_test_module.hpp"

namespace baton::vm {
namespace {

using testing::Counted;

TEST(Object, DiesWithItsLastReference) {
  auto* object = new Counted();
  object->retain();
  object->release();
  EXPECT_EQ(Counted::living, 1);
  object->release();
  EXPECT_EQ(Counted::living, 0);
}

TEST(Object, DropSaysWhichReferenceWasTheLast) {
  Counted* const object = new Counted();
  object->retain();
  EXPECT_FALSE(object->drop());
  EXPECT_TRUE(object->drop());
  EXPECT_EQ(Counted::living, 1) << "dropping destroys nothing";
  object->type->destroy(object);
}

TEST(Object, NullIsRetainedAndReleasedToo) {
  retain_object(nullptr);
  release_object(nullptr);
}

TEST(Object, IsCountedFromSeveralThreads) {
  constexpr int kThreads = 4;
  auto* object = new Counted();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([object] {
        for (int i = 0; i < 10'000; ++i) {
          object->retain();
          object->release();
        }
      });
    }
  }
  EXPECT_EQ(object->count, 1u);
  object->release();
  EXPECT_EQ(Counted::living, 0);
}

}  // namespace
}  // namespace baton::vm
