// Medians and spreads of repetitions, and what --benchmark_out= wrote read back.
#include "tools/benchmark/samples.hpp"

#include <gtest/gtest.h>

namespace baton::tools {
namespace {

TEST(Samples, MedianAndSpread) {
  EXPECT_DOUBLE_EQ(median_of({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(spread_of({9, 10, 10, 10, 11}), 0);
  EXPECT_DOUBLE_EQ(spread_of({8, 9, 10, 11, 12}), 0.2);
  EXPECT_DOUBLE_EQ(spread_of({1, 100}), 0) << "two samples have no middle half";
}

TEST(Samples, ClockWordsAreNoPartOfTheName) {
  EXPECT_EQ(plain_name("main.first_call/manual_time"), "main.first_call");
  EXPECT_EQ(plain_name("device.floor/local-sync/real_time"), "device.floor/local-sync");
  EXPECT_EQ(plain_name("add.submit/iterations:200/manual_time"), "add.submit");
  EXPECT_EQ(plain_name("add/64/real_time"), "add/64");
  EXPECT_TRUE(counts_real_time("main/real_time"));
  EXPECT_FALSE(counts_real_time("main/iterations:200"));
  EXPECT_FALSE(counts_real_time("main"));
}

TEST(Samples, AreReadBackByName) {
  const Result<Samples> samples = read_samples(
      R"({"benchmarks": [
        {"name": "main", "run_type": "iteration", "real_time": 9, "cpu_time": 2, "time_unit": "us"},
        {"name": "main", "run_type": "iteration", "real_time": 9, "cpu_time": 3, "time_unit": "us"},
        {"name": "main_median", "run_type": "aggregate", "real_time": 9, "cpu_time": 3, "time_unit": "us"},
        {"name": "wait/real_time", "run_type": "iteration", "real_time": 9, "cpu_time": 2, "time_unit": "ns"}]})",
      "old.json");
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(*samples, (Samples{{"main", {2000, 3000}}, {"wait", {9}}}));
}

TEST(Samples, ConditionsAreReadBackAndCompared) {
  const Conditions before = read_conditions(
      R"({"context": {"host_name": "a", "baton.inputs": "4xf32 7", "baton.devices": "local-sync", "baton.x": 3}})");
  EXPECT_EQ(before, (Conditions{{"inputs", "4xf32 7"}, {"devices", "local-sync"}}));
  EXPECT_EQ(first_difference(before, before), "");
  EXPECT_EQ(first_difference(before, {{"inputs", "4xf32 8"}, {"devices", "null"}}),
            "devices: 'local-sync', now 'null'");
  EXPECT_EQ(first_difference(before, {{"inputs", "4xf32 8"}}), "inputs: '4xf32 7', now '4xf32 8'");
  EXPECT_EQ(first_difference({}, before), "") << "what an earlier version wrote tells nothing";
  for (const char* text : {"", "[]", "{", R"({"context": 3})", "{}"})
    EXPECT_TRUE(read_conditions(text).empty()) << text;
}

TEST(Samples, OtherTextIsRefused) {
  for (const char* text : {"", "[]", "{", R"({"benchmarks": 3})", R"({"benchmarks": [1, {"name": 3}]})"}) {
    const Result<Samples> samples = read_samples(text, "old.json");
    ASSERT_FALSE(samples.has_value()) << text;
    EXPECT_NE(std::string(samples.error().message()).find("'old.json'"), std::string::npos);
  }
}

}  // namespace
}  // namespace baton::tools
