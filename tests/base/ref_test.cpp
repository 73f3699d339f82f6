// A Ref shares, its object dies with the last one, and references move between Ref and bare pointer without being
// counted.
#include "base/ref.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace baton {
namespace {

class Animal : public RefCounted<Animal> {
 public:
  explicit Animal(int& alive) : alive_(alive) { ++alive_; }
  virtual ~Animal() { --alive_; }

 private:
  int& alive_;
};

class Dog final : public Animal {
 public:
  using Animal::Animal;
};

TEST(Ref, BeginsAsNull) {
  const Ref<Animal> empty, null = nullptr;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.get(), nullptr);
  EXPECT_EQ(empty, null);
}

TEST(Ref, TheLastOneDestroys) {
  int alive = 0;
  {
    const Ref<Animal> first = make_ref<Animal>(alive);
    {
      const Ref<Animal> second = first;  // NOLINT(performance-unnecessary-copy-initialization)
      EXPECT_EQ(first, second);
    }
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Ref, MovesLeaveNullBehind) {
  int alive = 0;
  Ref<Animal> source = make_ref<Animal>(alive);
  Ref<Animal> target = std::move(source);
  EXPECT_FALSE(source);  // NOLINT(bugprone-use-after-move): that it is null is promised.
  target = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(Ref, AssignmentDropsWhatWasHeld) {
  int old_alive = 0, new_alive = 0;
  Ref<Animal> held = make_ref<Animal>(old_alive);
  const Ref<Animal> other = make_ref<Animal>(new_alive);
  held = other;
  EXPECT_EQ(old_alive, 0);
  EXPECT_EQ(held, other);
}

TEST(Ref, MayBeAssignedToItself) {
  int alive = 0;
  Ref<Animal> held = make_ref<Animal>(alive);
  const Ref<Animal>& same = held;
  held = same;
  EXPECT_EQ(alive, 1);
  EXPECT_TRUE(held);
}

TEST(Ref, AdoptTakesOverAndDetachGivesAway) {
  int alive = 0;
  Ref<Animal> held = Ref<Animal>::adopt(new Animal(alive));
  Animal* owned = held.detach();
  EXPECT_FALSE(held);
  EXPECT_EQ(alive, 1);
  owned->release();
  EXPECT_EQ(alive, 0);
}

TEST(Ref, OfAPointerSharesIt) {
  int alive = 0;
  Animal* owned = new Animal(alive);
  { const Ref<Animal> shared(owned); }
  EXPECT_EQ(alive, 1);
  owned->release();
  EXPECT_EQ(alive, 0);
}

TEST(Ref, ConvertsToTheBase) {
  int alive = 0;
  Ref<Dog> dog = Ref<Dog>::adopt(new Dog(alive));
  Ref<Animal> shared = dog;
  EXPECT_EQ(shared.get(), dog.get());
  Ref<Animal> moved = std::move(dog);
  shared = nullptr;
  EXPECT_EQ(alive, 1);
  moved = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(Ref, CountsFromSeveralThreads) {
  constexpr int kThreads = 4, kCopies = 10'000;
  int alive = 0;
  Ref<Animal> held = make_ref<Animal>(alive);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([mine = held] {
      for (int copy = 0; copy < kCopies; ++copy) {
        Ref<Animal> shared = mine;
        shared = nullptr;
      }
    });
  }
  held = nullptr;  // the last of the threads destroys
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace baton
