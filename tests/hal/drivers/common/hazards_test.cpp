// Hazards: found between commands that no barrier orders, through subspans and slots, and not where there is none.
#include "hal/drivers/common/hazards.hpp"

#include "hal/allocator.hpp"
#include "hal/drivers/common/command_list.hpp"
#include "hal/drivers/null/driver.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

class HazardsTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = drivers::null::make_driver()->open("", {}).value();
    commands_ = device_->make_command_buffer({.name = "hazards", .slot_count = 2}).value();
    buffer_ = device_->allocator().allocate({.length = 64}).value();
  }
  BufferRange range(uint64_t offset, uint64_t length) { return BufferRange(buffer_.get(), offset, length); }
  void fill(const Binding& target) { EXPECT_OK(commands_->fill_buffer({.target = target})); }
  void copy(const Binding& source, const Binding& target) {
    EXPECT_OK(commands_->copy_buffer({.source = source, .target = target}));
  }
  std::vector<Hazard> found(std::span<const BufferRange> table = {}) {
    recording_ = commands_->finish().value();
    return find_hazards(static_cast<const CommandList&>(*recording_), table);
  }

  Ref<Device> device_;
  std::unique_ptr<CommandBuffer> commands_;
  Ref<Buffer> buffer_;
  Ref<Recording> recording_;
};

TEST_F(HazardsTest, FindsAReadAfterAWriteOfOverlappingBytes) {
  fill(range(0, 16));
  copy(range(8, 16), range(32, 16));
  const auto hazards = found();
  ASSERT_EQ(hazards.size(), 1u);
  EXPECT_EQ(hazards[0].kind, HazardKind::kReadAfterWrite);
  EXPECT_EQ(hazards[0].first_index, 0u);
  EXPECT_EQ(hazards[0].second_index, 1u);
  EXPECT_EQ(hazards[0].range.start, 8u);
  EXPECT_EQ(hazards[0].range.end, 16u);
}

TEST_F(HazardsTest, TouchingIsNotOverlapping) {
  fill(range(0, 16));
  fill(range(16, 16));
  EXPECT_TRUE(found().empty());
}

TEST_F(HazardsTest, SeesThroughSubspans) {
  const auto part = buffer_->subspan(32, 32).value();
  fill(part);
  copy(range(40, 8), range(0, 8));
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(HazardsTest, SlotsAreOneMemoryEachUntilATableSaysMore) {
  fill(Binding(Slot{0}, 0, 16));
  fill(Binding(Slot{1}, 0, 16));
  EXPECT_TRUE(found().empty());
  const BufferRange same[] = {range(0, 32), range(8, 32)};
  EXPECT_EQ(find_hazards(static_cast<const CommandList&>(*recording_), same).size(), 1u);
  const BufferRange apart[] = {range(0, 32), range(32, 32)};
  EXPECT_TRUE(find_hazards(static_cast<const CommandList&>(*recording_), apart).empty());
}

TEST_F(HazardsTest, ABarrierOfOtherBytesOrdersNothing) {
  fill(range(0, 16));
  const Binding other[] = {range(32, 16)};
  EXPECT_OK(commands_->barrier({.bindings = other}));
  fill(range(0, 16));
  const Binding own[] = {range(0, 16)};
  EXPECT_OK(commands_->barrier({.bindings = own}));
  fill(range(0, 16));
  const auto hazards = found();
  ASSERT_EQ(hazards.size(), 1u);
  EXPECT_EQ(hazards[0].kind, HazardKind::kWriteAfterWrite);
  EXPECT_EQ(hazards[0].second_index, 2u);
}

}  // namespace
}  // namespace baton::hal
