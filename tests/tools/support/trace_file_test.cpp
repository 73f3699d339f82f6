// The table of --profile, from spans that are made up.
#include "tools/support/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::tools {
namespace {

using testing::HasSubstr;

TEST(TraceFileTest, WorkersThatShareADispatchAreOneRun) {
  Timeline timeline;
  WorkTable work;
  work.add("flops.code.matmul", "2*w0*w1");
  const Timeline::Label* const execute = timeline.make_label("execute \"step.0\"", "queue", {{"device", "task"}});
  const Timeline::Label* const command = timeline.make_label(
      "matmul", "command",
      {{"recording", "step.0"}, {"device", "task"}, {"executable", "code"}, {"constants", "1000 50"}});
  command->bytes.store(4000);
  Timeline::Track& one = timeline.track("one");
  Timeline::Track& other = timeline.track("other");
  for (const int64_t begin : {0, 10000}) {
    timeline.add(one, {begin, 3000, execute});
    timeline.add(one, {begin + 1000, 2000, command});    // 1000..3000
    timeline.add(other, {begin + 1500, 2500, command});  // 1500..4000, so that it took 3000.
  }
  // 2 runs in 6 us, of 4000 bytes and 100,000 operations.
  EXPECT_THAT(profile_text(timeline, work),
              HasSubstr("100.0%        6.000        2      3.000     1.33     33.3  matmul\n"));
}

// Beside the peak of a device that says one; a device that doesn't has a dash.
TEST(TraceFileTest, SharesOfThePeak) {
  Timeline timeline;
  WorkTable work;
  work.add("flops.code.matmul", "2*w0");
  work.set_peak("cuda://0", {.gigabytes = 16, .gigaflops = 400});
  for (const char* device : {"cuda://0", "local-sync"}) {
    const Timeline::Label* const command =
        timeline.make_label("matmul", "command", {{"device", device}, {"executable", "code"}, {"constants", "50000"}});
    command->bytes.store(4000);
    timeline.add(timeline.track(device), {0, 1000, command});  // 4 GB/s, 100 GFLOP/s.
  }
  const std::string table = profile_text(timeline, work);
  EXPECT_THAT(table, HasSubstr("GB/s <= of peak  GFLOP/s  of f32  command\n"));
  EXPECT_THAT(table, HasSubstr(" 50.0%        1.000        1      1.000        4     25%      100     25%  matmul\n"));
  EXPECT_THAT(table, HasSubstr(" 50.0%        1.000        1      1.000        4       -      100       -  matmul\n"));
}

TEST(TraceFileTest, WhatIsNotKnownIsADash) {
  Timeline timeline;
  const Timeline::Label* const command =
      timeline.make_label("matmul", "command", {{"recording", "step.0"}, {"executable", "code"}, {"constants", "?"}});
  timeline.add(timeline.track("one"), {0, 1000, command});
  WorkTable work;
  work.add("flops.code.matmul", "2*w0");
  EXPECT_THAT(profile_text(timeline, work),
              HasSubstr("100.0%        1.000        1      1.000        -        -  matmul\n"));
}

}  // namespace
}  // namespace baton::tools
