// What a graph report says: times of one execution, and after how many the graph was worth it.
#include "hal/drivers/cuda/graph_report.hpp"

#include <gtest/gtest.h>

namespace baton::hal::drivers::cuda {
namespace {

TEST(GraphReportTest, TellsWhenTheGraphPays) {
  GraphReport report;
  report.nodes = 100;
  report.builds = 1;
  report.executions = 4;
  report.patched_records = 6;
  report.memory_bytes = 65536;
  report.build_ns = 50'000;
  report.instantiate_ns = 250'000;
  report.upload_ns = 100'000;
  report.patch_ns = 2'000;
  report.launch_ns = 6'000;
  EXPECT_EQ(pays_after(report), 0u);
  report.stream_ns = 202'000;
  EXPECT_EQ(pays_after(report), 2u);
  EXPECT_EQ(
      report_text("prefill", report),
      "graph \"prefill\": 100 nodes, 1 builds, 64 KiB; build 50.0 us, instantiate 250.0 us, upload 100.0 us; "
      "4 executions: patch 0.5 us (6 records in all), launch 1.5 us; on a stream 202.0 us: pays after 2 executions");
  report.stream_ns = 1'900;
  EXPECT_EQ(pays_after(report), 0u);
  EXPECT_TRUE(report_text("prefill", report).ends_with("on a stream 1.9 us: never pays"));
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
