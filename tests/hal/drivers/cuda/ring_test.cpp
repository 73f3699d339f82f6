#include "hal/drivers/cuda/ring.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace baton::hal::drivers::cuda {
namespace {

TEST(RingTest, IsAQueueHoweverItGoesRoundAndGrows) {
  Ring<int> ring;
  std::deque<int> model;
  int next = 0;
  for (const auto& [pushes, pops] : {std::pair(10, 7), {16, 3}, {5, 21}, {40, 1}, {0, 39}, {33, 33}}) {
    for (int i = 0; i < pushes; ++i) {
      ring.push(next);
      model.push_back(next++);
      EXPECT_EQ(ring.back(), model.back());
    }
    for (size_t i = 0; i < model.size(); ++i) EXPECT_EQ(ring[i], model[i]);
    for (int i = 0; i < pops; ++i) {
      EXPECT_EQ(ring.front(), model.front());
      EXPECT_EQ(ring.pop(), model.front());
      model.pop_front();
    }
    EXPECT_EQ(ring.size(), model.size());
  }
  EXPECT_TRUE(ring.empty());
}

TEST(RingTest, LetsGoOfWhatIsTaken) {
  Ring<std::shared_ptr<int>> ring;
  const auto thing = std::make_shared<int>(1);
  ring.push(thing);
  EXPECT_EQ(ring.pop(), thing);
  EXPECT_EQ(thing.use_count(), 1);
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
