// collective: with one rank every operation moves its source to its target; what does not add up is refused.
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class CollectiveTest : public DeviceTest {};

TEST_P(CollectiveTest, OneRankReducesToItself) {
  const auto channel = device().make_channel("alone", 0, 1).value();
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

TEST_P(CollectiveTest, RefusesWhatDoesNotAddUp) {
  const auto channel = device().make_channel("alone", 0, 1).value();
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

BATON_CONFORMANCE(CollectiveTest);

}  // namespace
}  // namespace baton::hal::conformance
