// Where imports belong, and how shares are shown: what --time_imports and --time_dispatches print.
#include "tools/benchmark/import_times.hpp"

#include <gtest/gtest.h>

namespace baton::tools {
namespace {

TEST(ImportTimesTest, RecordingSubmittingAndWaitingAreToldApart) {
  EXPECT_EQ(phase_of("hal.command_buffer.dispatch", "r<hal.command_buffer>r<hal.executable>_v"), "record");
  EXPECT_EQ(phase_of("hal.command_buffer.create", "r<hal.device>r<blob>ii_r<hal.command_buffer>"), "record");
  EXPECT_EQ(phase_of("blas.saxpy", "r<hal.command_buffer>fIr<hal.buffer>II_v"), "record");
  EXPECT_EQ(phase_of("hal.queue.execute", "r<hal.device>_v"), "submit");
  EXPECT_EQ(phase_of("hal.fence.await", "iCr<hal.fence>D_i"), "wait");
  EXPECT_EQ(phase_of("hal.fence.create", "r<hal.device>_r<hal.fence>"), "other");
  EXPECT_EQ(phase_of("custom.print", "r<blob>_v"), "other");
}

TEST(ImportTimesTest, TheLargestShareStandsFirst) {
  EXPECT_EQ(describe_shares({{"a", 4, 400}, {"bb", 2, 8000}}, 4, "calls"),
            "  bb      0.50 calls     2.00 us in all     4.00 us each\n"
            "  a       1.00 calls      100 ns in all      100 ns each\n");
}

}  // namespace
}  // namespace baton::tools
