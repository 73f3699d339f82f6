#include "compiler-lite/schedule/plan.hpp"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::compiler_lite::schedule {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr bool kReads = true, kWrites = true;

Touch read(unsigned storage, int64_t offset = 0, int64_t bytes = kUnknown) {
  return {.storage = storage, .offset = offset, .bytes = bytes, .reads = kReads};
}
Touch write(unsigned storage, int64_t offset = 0, int64_t bytes = kUnknown) {
  return {.storage = storage, .offset = offset, .bytes = bytes, .writes = kWrites};
}

// `count` storages of 64 bytes and these commands.
Plan plan_of(unsigned count, std::vector<std::vector<Touch>> commands) {
  Plan plan{.name = "test"};
  for (unsigned i = 0; i < count; ++i) plan.storages.push_back({.kind = StorageKind::kTransient, .bytes = 64});
  for (std::vector<Touch>& touches : commands)
    plan.commands.push_back({.text = "command", .touches = std::move(touches)});
  return plan;
}

std::vector<bool> barriers(Plan plan) {
  plan_barriers(plan);
  std::vector<bool> result;
  for (const PlannedCommand& command : plan.commands) result.push_back(command.barrier_before);
  return result;
}

TEST(PlanBarriers, StandWhereSomethingWrittenIsRead) {
  EXPECT_THAT(barriers(plan_of(3, {{write(0)}, {write(1)}, {read(0), write(2)}})), ElementsAre(false, false, true));
}

TEST(PlanBarriers, StandWhereSomethingReadIsWritten) {
  EXPECT_THAT(barriers(plan_of(2, {{read(0), write(1)}, {write(0)}})), ElementsAre(false, true));
}

TEST(PlanBarriers, StandWhereSomethingIsWrittenTwice) {
  EXPECT_THAT(barriers(plan_of(1, {{write(0)}, {write(0)}})), ElementsAre(false, true));
}

TEST(PlanBarriers, LetReadersOfOneStorageRunTogether) {
  EXPECT_THAT(barriers(plan_of(3, {{read(0), write(1)}, {read(0), write(2)}})), ElementsAre(false, false));
}

TEST(PlanBarriers, ServeAllThatCameBefore) {
  // The second reader's producer is already behind the first barrier.
  EXPECT_THAT(barriers(plan_of(4, {{write(0)}, {write(1)}, {read(0), write(2)}, {read(1), write(3)}})),
              ElementsAre(false, false, true, false));
}

TEST(PlanBarriers, KnowThatDifferentPartsDoNotMeet) {
  EXPECT_THAT(barriers(plan_of(1, {{write(0, 0, 32)}, {write(0, 32, 32)}})), ElementsAre(false, false));
  EXPECT_THAT(barriers(plan_of(1, {{write(0, 0, 33)}, {write(0, 32, 32)}})), ElementsAre(false, true));
  EXPECT_THAT(barriers(plan_of(1, {{write(0, 0, 32)}, {write(0, kUnknown, 32)}})), ElementsAre(false, true));
}

TEST(PlanMemory, SharesWhatIsNoLongerUsed) {
  // a -> b -> c -> d: a and c never live together.
  Plan plan = plan_of(4, {{write(0)}, {read(0), write(1)}, {read(1), write(2)}, {read(2), write(3)}});
  plan_barriers(plan);
  plan_memory(plan);
  EXPECT_EQ(plan.slab_bytes, 128);
  EXPECT_EQ(plan.storages[0].slab_offset, plan.storages[2].slab_offset);
  EXPECT_NE(plan.storages[0].slab_offset, plan.storages[1].slab_offset);
}

TEST(PlanMemory, KeepsWhatRunsTogetherApart) {
  // No barrier stands between the two writers, so their memory must differ even though the first result is never read.
  Plan plan = plan_of(2, {{write(0)}, {write(1)}});
  plan_barriers(plan);
  plan_memory(plan);
  EXPECT_EQ(plan.slab_bytes, 128);
}

TEST(PlanMemory, NeedsNoFurtherBarrier) {
  Plan plan = plan_of(6, {{write(0)},
                          {write(1)},
                          {read(0), write(2)},
                          {read(1), write(3)},
                          {read(2), read(3), write(4)},
                          {read(4), write(5)}});
  plan_barriers(plan);
  plan_memory(plan);
  for (const Storage& a : plan.storages) {
    for (const Storage& b : plan.storages) {
      const bool lives_meet = a.first_epoch <= b.last_epoch && b.first_epoch <= a.last_epoch;
      const bool places_meet = a.slab_offset < b.slab_offset + b.bytes && b.slab_offset < a.slab_offset + a.bytes;
      EXPECT_FALSE(&a != &b && lives_meet && places_meet);
    }
  }
}

TEST(PlanMemory, SharesUnknownSizesWithinTheirClass) {
  Plan plan = plan_of(4, {{write(0)}, {read(0), write(1)}, {read(1), write(2)}, {read(2), write(3)}});
  for (Storage& storage : plan.storages) storage.bytes = kUnknown;
  plan.storages[2].size_class = 0;
  plan.storages[3].size_class = 7;
  plan_barriers(plan);
  plan_memory(plan);
  EXPECT_EQ(plan.slab_bytes, 0);
  EXPECT_EQ(plan.storages[0].region, plan.storages[2].region);
  EXPECT_THAT(plan.regions, ElementsAre(0U, 0U, 7U));
}

TEST(PlanMemory, ForgetsWhatNobodyUses) {
  Plan plan = plan_of(2, {{write(0)}});
  plan_barriers(plan);
  plan_memory(plan);
  EXPECT_EQ(plan.slab_bytes, 64);
}

TEST(PrintPlan, ShowsBarriersAndPlaces) {
  Plan plan = plan_of(2, {{write(0)}, {read(0), write(1)}});
  plan.storages[1] = {.kind = StorageKind::kResult, .bytes = 64, .name = "sum"};
  plan_barriers(plan);
  plan_memory(plan);
  EXPECT_THAT(print_plan(plan), HasSubstr("barrier\n  command r %0 w %1"));
  EXPECT_THAT(print_plan(plan), HasSubstr("result sum, 64 bytes"));
  EXPECT_THAT(print_plan(plan), HasSubstr("slab of 64 bytes"));
}

}  // namespace
}  // namespace baton::compiler_lite::schedule
