#include "base/timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>
#include <vector>

namespace baton {
namespace {

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(TimelineTest, EveryThreadHasARowWithItsSpansInOrder) {
  Timeline timeline;
  const Timeline::Label* const label = timeline.label("work", "test");
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 3000; ++i) timeline.add({i, t, label});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, std::vector<Timeline::Span>> rows;
  timeline.for_each([&](std::string_view row, const Timeline::Span& span) { rows[std::string(row)].push_back(span); });
  ASSERT_EQ(rows.size(), 8u);
  std::set<int64_t> threads_seen;
  for (const auto& [name, spans] : rows) {
    ASSERT_EQ(spans.size(), 3000u);
    for (size_t i = 0; i < spans.size(); ++i) {
      EXPECT_EQ(spans[i].begin_ns, static_cast<int64_t>(i));
      EXPECT_EQ(spans[i].duration_ns, spans[0].duration_ns);
    }
    threads_seen.insert(spans[0].duration_ns);
  }
  EXPECT_EQ(threads_seen.size(), 8u);
}

TEST(TimelineTest, TwoTimelinesShareNoRow) {
  Timeline first, second;
  for (int i = 0; i < 3; ++i) {
    first.add({1, 1, first.label("a", "test")});
    second.add({1, 1, second.label("b", "test")});
  }
  size_t spans = 0;
  first.for_each([&](std::string_view, const Timeline::Span& span) {
    EXPECT_EQ(span.label->name, "a");
    ++spans;
  });
  EXPECT_EQ(spans, 3u);
}

TEST(TimelineTest, WhatComesBehindTheEndIsCounted) {
  Timeline timeline(1500);
  for (int i = 0; i < 2000; ++i) timeline.add({i, 1, timeline.label("work", "test")});
  EXPECT_EQ(timeline.left_out(), 500u);
  EXPECT_EQ(count_of(timeline.json(), "\"ph\":\"X\""), 1500u);
  EXPECT_EQ(count_of(timeline.json(), "\"spans_left_out\":\"500\""), 1u);
}

TEST(TimelineTest, NamesAreQuotedAndTimesBeginAtTheFirstSpan) {
  Timeline timeline;
  const Timeline::Label* const label = timeline.make_label("a \"b\"\n\\", "test", {{"line", "x.mlir:3:7"}});
  timeline.add({1'002'003, 4'005, label});
  Timeline::Track& track = timeline.track("cuda://0 stream 7");
  timeline.add(track, {1'000'003, 1, label});
  const std::string json = timeline.json();
  EXPECT_EQ(count_of(json, R"("name":"a \"b\"\u000a\\")"), 2u) << json;
  EXPECT_EQ(count_of(json, R"("ts":2.000,"dur":4.005,"args":{"line":"x.mlir:3:7"})"), 1u) << json;
  EXPECT_EQ(count_of(json, R"("args":{"name":"cuda://0 stream 7"})"), 1u) << json;
}

TEST(TimelineTest, AnArrowHasABeginAndAnEnd) {
  Timeline timeline;
  const uint64_t flow = timeline.new_flow();
  EXPECT_NE(timeline.new_flow(), flow);
  const Timeline::Label* const label = timeline.make_label("command", "test", {}, flow);
  timeline.add({1, 1, timeline.label("record", "test"), flow});
  timeline.add({5, 1, label, 0, label->take_flow()});
  timeline.add({9, 1, label, 0, label->take_flow()});  // Taken: a replay has none.
  const std::string json = timeline.json();
  EXPECT_EQ(count_of(json, "\"ph\":\"s\""), 1u) << json;
  EXPECT_EQ(count_of(json, "\"ph\":\"f\""), 1u) << json;
}

struct Late final : Timeline::Source {
  explicit Late(Timeline& timeline) : to(&timeline), sources(timeline.sources()) { sources->add(*this); }
  ~Late() { sources->remove(*this); }
  void flush() override { to->add({1, 1, to->label("late", "test")}); }
  void timeline_ends() override { to = nullptr; }

  Timeline* to;
  const std::shared_ptr<Timeline::Sources> sources;
};

TEST(TimelineTest, SourcesAreAskedBeforeAnybodyReads) {
  Timeline timeline;
  {
    const Late late(timeline);
    timeline.flush();
  }
  timeline.flush();
  EXPECT_EQ(count_of(timeline.json(), "\"name\":\"late\""), 1u);
}

// A device's last reference may go on its own thread, after the app's timeline went.
TEST(TimelineTest, ASourceMayEndAfterTheTimeline) {
  auto timeline = std::make_unique<Timeline>();
  const Late first(*timeline), second(*timeline);
  timeline = nullptr;
  EXPECT_EQ(first.to, nullptr);
  EXPECT_EQ(second.to, nullptr);
}

}  // namespace
}  // namespace baton
