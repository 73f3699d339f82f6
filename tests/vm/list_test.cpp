// Lists grow, keep each element's type, and own the references in them.
#include "vm/list.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"
#include "vm/pace.hpp"

namespace baton::vm {
namespace {

// As an instruction does it, in a run without limits.
bool resize(List& list, uint64_t size) {
  Machine machine;
  Pace pace(machine, system_allocator(), kFuelQuantum);
  return list.resize(size, pace) == TrapKind::kNone;
}

using testing::Counted;

TEST(List, KeepsElementsAcrossGrowth) {
  const Ref<List> list = List::make();
  for (int32_t i = 0; i < 1000; ++i) ASSERT_TRUE(list->push(ValueType::kI32, Value::of(i)));
  ASSERT_EQ(list->size(), 1000u);
  for (int32_t i = 0; i < 1000; ++i) EXPECT_EQ(list->elements[i].value.i32, i);
}

TEST(List, GrowsWithZerosAndShrinks) {
  const Ref<List> list = List::make(2);
  ASSERT_TRUE(resize(*list, 3));
  EXPECT_EQ(list->elements[2].type, ValueType::kI32);
  EXPECT_EQ(list->elements[2].value.bits, 0u);
  ASSERT_TRUE(resize(*list, 0));
  EXPECT_EQ(list->size(), 0u);
}

TEST(List, OwnsItsReferences) {
  Ref<List> list = List::make();
  Ref<Counted> object = make_ref<Counted>();
  ASSERT_TRUE(list->push(ValueType::kRef, Value::of(object.get())));
  ASSERT_TRUE(list->push(ValueType::kRef, Value::of(static_cast<Object*>(nullptr))));
  object = nullptr;
  EXPECT_EQ(Counted::living, 1);
  list->set(1, ValueType::kRef, list->elements[0].value);
  list->set(0, ValueType::kI64, Value::of(int64_t{3}));
  EXPECT_EQ(Counted::living, 1);
  list->set(1, ValueType::kRef, list->elements[1].value);  // What is replaced is what replaces it.
  EXPECT_EQ(Counted::living, 1);
  ASSERT_TRUE(resize(*list, 1));
  EXPECT_EQ(Counted::living, 0);
}

TEST(List, ReleasesWhatIsLeftWhenItDies) {
  Ref<List> list = List::make();
  const Ref<Counted> object = make_ref<Counted>();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(list->push(ValueType::kRef, Value::of(object.get())));
  EXPECT_EQ(object->count, 4u);
  list = nullptr;
  EXPECT_EQ(object->count, 1u);
}

// Whichever way a reference came into a list of numbers, and whichever way it leaves: it is released once.
TEST(List, ReleasesReferencesThatCameLate) {
  const Ref<Counted> object = make_ref<Counted>();
  for (const bool pushed : {true, false}) {
    for (const bool shrinks : {true, false}) {
      Ref<List> list = List::make();
      ASSERT_TRUE(resize(*list, 20'000));  // More than a stretch has.
      if (pushed) {
        ASSERT_TRUE(list->push(ValueType::kRef, Value::of(object.get())));
      } else {
        list->set(3, ValueType::kRef, Value::of(object.get()));
      }
      ASSERT_TRUE(resize(*list, 30'000));
      EXPECT_EQ(object->count, 2u);
      if (shrinks) {
        ASSERT_TRUE(resize(*list, 1));
        EXPECT_EQ(object->count, 1u);
        ASSERT_TRUE(resize(*list, 2));
      }
      list = nullptr;
      EXPECT_EQ(object->count, 1u) << pushed << shrinks;
    }
  }
}

TEST(List, RefusesWhatCannotBeHadAndStaysAsItWas) {
  const Ref<List> list = List::make();
  ASSERT_TRUE(list->push(ValueType::kI32, Value::of(int32_t{7})));
  for (uint64_t size : {List::kElementsMax + 1, std::numeric_limits<uint64_t>::max() / sizeof(List::Element) + 2}) {
    EXPECT_FALSE(list->reserve(size));
    EXPECT_FALSE(resize(*list, size));
    EXPECT_FALSE(List::make(size));
  }
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->elements[0].value.i32, 7);
}

// Entering each list's destroy from the one around it would need a C stack of that depth.
TEST(List, NestedAMillionDeepDies) {
  const Ref<Context> context = testing::make_context(R"(
export func @nest(%depth: i64) {
  const.i64 %v1, 0
  const.i64 %v2, 1
  list.alloc %r0, %v1
again:
  list.alloc %r1, %v2
  list.push.ref %r1, %r0
  ref.move %r0, %r1
  next.i64 %v1, %depth, again
  return
})");
  testing::expect_ok(testing::call(context, "nest", {Value::of(int64_t{1'000'000})}));
}

}  // namespace
}  // namespace baton::vm
