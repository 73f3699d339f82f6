// collective: with one rank every operation moves its source to its target, with two they combine and exchange; what
// does not add up is refused.
#include <thread>

#include "hal/rank_store.hpp"
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class CollectiveTest : public DeviceTest {};

TEST_P(CollectiveTest, OneRankReducesToItself) {
  const auto channel = device().make_channel({.name = "alone"}).value();
  const auto source = buffer_of<float>({1, 2, 3});
  for (const auto operation :
       {commands::CollectiveOperation::kAllReduce, commands::CollectiveOperation::kAllGather,
        commands::CollectiveOperation::kReduceScatter, commands::CollectiveOperation::kBroadcast}) {
    const bool reduces = operation == commands::CollectiveOperation::kAllReduce ||
                         operation == commands::CollectiveOperation::kReduceScatter;
    const auto target = buffer_of<float>({0, 0, 0});
    const auto commands = record();
    EXPECT_OK(commands->collective({.channel = channel.get(),
                                    .operation = operation,
                                    .reduction = reduces ? commands::Reduction::kSum : commands::Reduction::kNone,
                                    .source = source,
                                    .target = target}));
    EXPECT_OK(run(*commands));
    expect_values<float>(*target, {1, 2, 3});
  }
}

TEST_P(CollectiveTest, APermuteFromNobodyMakesZeros) {
  const auto channel = device().make_channel({.name = "alone"}).value();
  const auto source = buffer_of<float>({1, 2, 3}), target = buffer_of<float>({4, 5, 6});
  for (const uint32_t from : {uint32_t{0}, kNoRank}) {
    const auto commands = record();
    EXPECT_OK(commands->collective({.channel = channel.get(),
                                    .operation = commands::CollectiveOperation::kPermute,
                                    .to = from,
                                    .from = from,
                                    .source = source,
                                    .target = target}));
    EXPECT_OK(run(*commands));
    expect_values<float>(*target, from == kNoRank ? std::vector<float>{0, 0, 0} : std::vector<float>{1, 2, 3});
  }
}

TEST_P(CollectiveTest, RefusesWhatDoesNotAddUp) {
  const auto channel = device().make_channel({.name = "alone"}).value();
  const auto source = buffer(16), target = buffer(32);
  const auto commands = record();
  EXPECT_FAILS(commands->collective({.source = source, .target = source}), StatusCode::kInvalidArgument,
               "A collective needs a channel; it has none.");
  EXPECT_FAILS(commands->collective({.channel = channel.get(), .source = source, .target = source}),
               StatusCode::kInvalidArgument, "Collective all_reduce does not go with reduction none.");
  EXPECT_FAILS(commands->collective({.channel = channel.get(),
                                     .operation = commands::CollectiveOperation::kBroadcast,
                                     .root = 1,
                                     .source = source,
                                     .target = source}),
               StatusCode::kOutOfRange, "Collective root (1) is not among the 1 ranks");
  EXPECT_FAILS(
      commands->collective(
          {.channel = channel.get(), .reduction = commands::Reduction::kSum, .source = source, .target = target}),
      StatusCode::kInvalidArgument, "source (16 bytes) and target (32) do not fit that.");
  EXPECT_FAILS(commands->collective({.channel = channel.get(),
                                     .reduction = commands::Reduction::kSum,
                                     .source = BufferRange(source.get(), 0, 6),
                                     .target = BufferRange(target.get(), 0, 6)}),
               StatusCode::kInvalidArgument, "Collective source length (6) is not a multiple of 4.");
}

TEST_P(CollectiveTest, RefusesNumbersAndChannelsThatAreNone) {
  const auto channel = device().make_channel({.name = "alone"}).value();
  const auto other = GetParam()->open().value();
  const auto foreign = other->make_channel({.name = "other"}).value();
  const auto memory = buffer(16);
  const auto commands = record();
  commands::Collective given{
      .channel = foreign.get(), .reduction = commands::Reduction::kSum, .source = memory, .target = memory};
  EXPECT_FAILS(commands->collective(given), StatusCode::kInvalidArgument, "Channel 'other' is of another device.");
  given.channel = channel.get();
  given.element_type = static_cast<ElementType>(77);
  EXPECT_FAILS(commands->collective(given), StatusCode::kInvalidArgument, "element type 77, which is none");
  given.element_type = ElementType::kC64;
  given.reduction = commands::Reduction::kMinimum;
  EXPECT_FAILS(commands->collective(given), StatusCode::kInvalidArgument, "complex<f32> has no minimum");
  given.operation = static_cast<CollectiveOperation>(9);
  EXPECT_FAILS(commands->collective(given), StatusCode::kInvalidArgument, "operation 9 and reduction 3");
  given = {.channel = channel.get(), .operation = CollectiveOperation::kSend, .to = 0, .source = memory};
  EXPECT_FAILS(commands->collective(given), StatusCode::kInvalidArgument, "between rank 0 and itself");
  given.to = kNoRank;
  EXPECT_FAILS(commands->collective(given), StatusCode::kOutOfRange, "is not among the 1 ranks");
  EXPECT_FAILS(device().make_channel({.rank = 2, .rank_count = 2}), StatusCode::kOutOfRange, "no rank 2 of 2");
}

// A device, its channel, and what a rank of two does with them.
using Part = void (*)(Device& device, Channel& channel);

void run_two(const Backend& backend, Part part) {
  const auto store = make_memory_store();
  const auto run = [&](uint32_t rank) {
    auto device = backend.open();
    ASSERT_OK(device);
    auto channel = (*device)->make_channel({"two", rank, 2, store.get(), int64_t{10'000'000'000}});
    ASSERT_OK(channel);
    part(**device, **channel);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

Ref<Buffer> filled(Device& device, const std::vector<float>& values) {
  auto made = device.allocator().allocate({.length = values.size() * sizeof(float)}).value();
  auto mapping = made->map(Access::kDiscardWrite);
  std::copy(values.begin(), values.end(), mapping->as<float>().begin());
  return made;
}

Status execute(Device& device, CommandBuffer& commands) {
  BATON_TRY_ASSIGN(const auto recording, commands.finish());
  BATON_TRY_ASSIGN(const auto done, device.make_semaphore());
  const SemaphorePoint signal(done, 1);
  BATON_TRY(device.queue().execute({{}, {&signal, 1}}, *recording));
  return done->wait(1, int64_t{20'000'000'000});
}

std::vector<float> floats(Buffer& buffer) {
  auto mapping = buffer.map(Access::kRead);
  const auto found = mapping->as<float>();
  return {found.begin(), found.end()};
}

// Several collectives in one recording, each after the other.
TEST_P(CollectiveTest, TwoRanksCombineAndExchange) {
  if (!GetParam()->has_peers) GTEST_SKIP() << "skipped: its devices are no ranks of one channel here";
  run_two(*GetParam(), [](Device& device, Channel& channel) {
    const auto own = static_cast<float>(channel.rank() + 1);  // 1, 2
    const auto source = filled(device, {own, 10 * own, 100 * own, 1000 * own});
    const auto sum = filled(device, {0, 0, 0, 0}), all = filled(device, std::vector<float>(8));
    const auto swapped = filled(device, {0, 0, 0, 0}), shares = filled(device, {0, 0, 0, 0});
    const auto commands = device.make_command_buffer().value();
    EXPECT_OK(commands->collective(
        {.channel = &channel, .reduction = commands::Reduction::kSum, .source = source, .target = sum}));
    EXPECT_OK(commands->barrier({}));
    EXPECT_OK(commands->collective(
        {.channel = &channel, .operation = CollectiveOperation::kAllGather, .source = sum, .target = all}));
    EXPECT_OK(commands->collective({.channel = &channel,
                                    .operation = CollectiveOperation::kPermute,
                                    .to = 1 - channel.rank(),
                                    .from = 1 - channel.rank(),
                                    .source = source,
                                    .target = swapped}));
    EXPECT_OK(commands->collective(
        {.channel = &channel, .operation = CollectiveOperation::kAllToAll, .source = source, .target = shares}));
    EXPECT_OK(execute(device, *commands));
    EXPECT_EQ(floats(*all), (std::vector<float>{3, 30, 300, 3000, 3, 30, 300, 3000}));
    const float its = 3 - own;
    EXPECT_EQ(floats(*swapped), (std::vector<float>{its, 10 * its, 100 * its, 1000 * its}));
    EXPECT_EQ(floats(*shares),
              channel.rank() == 0 ? (std::vector<float>{1, 10, 2, 20}) : (std::vector<float>{100, 1000, 200, 2000}));
  });
}

TEST_P(CollectiveTest, TwoRanksSendAndReceive) {
  if (!GetParam()->has_peers) GTEST_SKIP() << "skipped: its devices are no ranks of one channel here";
  run_two(*GetParam(), [](Device& device, Channel& channel) {
    const auto memory = filled(device, channel.rank() == 0 ? std::vector<float>{5, 6} : std::vector<float>{0, 0});
    const auto commands = device.make_command_buffer().value();
    if (channel.rank() == 0) {
      EXPECT_OK(commands->collective(
          {.channel = &channel, .operation = CollectiveOperation::kSend, .to = 1, .source = memory}));
    } else {
      EXPECT_OK(commands->collective(
          {.channel = &channel, .operation = CollectiveOperation::kReceive, .from = 0, .target = memory}));
    }
    EXPECT_OK(execute(device, *commands));
    EXPECT_EQ(floats(*memory), (std::vector<float>{5, 6}));
  });
}

BATON_CONFORMANCE(CollectiveTest);

}  // namespace
}  // namespace baton::hal::conformance
