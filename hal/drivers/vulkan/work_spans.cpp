#include "hal/drivers/vulkan/work_spans.hpp"

#include <chrono>

#include "hal/drivers/vulkan/stamps.hpp"
#include "hal/drivers/vulkan/timeline.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// The host knows the moment of a stamp as well as it is quick to ask and to hear; the quickest counts.
constexpr int kComparisons = 8;
constexpr std::chrono::milliseconds kFlush{200};

}  // namespace

WorkSpans::WorkSpans(Ref<Context> context, baton::Timeline& told, std::string_view row)
    : context_(std::move(context)), sources_(told.sources()), track_(told.track(row)), timeline_(&told) {
  sources_->add(*this);
}

WorkSpans::~WorkSpans() { sources_->remove(*this); }

Result<std::shared_ptr<WorkSpans>> WorkSpans::make(Timeline& device, baton::Timeline& told, std::string_view row) {
  Context& context = device.context();
  if (context.facts().timestamp_bits == 0) {
    return failure(StatusCode::kUnimplemented, "Device '", context.facts().name, "' has no clock.");
  }
  auto made = std::shared_ptr<WorkSpans>(new WorkSpans(Ref<Context>(&context), told, row));
  BATON_TRY(made->compare_clocks(device));
  return made;
}

Status WorkSpans::compare_clocks(Timeline& device) {
  BATON_TRY_ASSIGN(const StampPool stamps, StampPool::make(context_, 1, 1));
  BATON_TRY(stamps.begin(0));
  stamps.reset(stamps.commands(0), 0, 1);
  stamps.write(stamps.commands(0), 0);
  BATON_TRY(stamps.end(0));
  int64_t best_ns = INT64_MAX;
  for (int i = 0; i < kComparisons; ++i) {
    const int64_t before_ns = baton::Timeline::clock_ns();
    BATON_TRY_ASSIGN(const uint64_t serial, device.submit(stamps.commands(0)));
    BATON_TRY(device.wait(serial));
    const int64_t took_ns = baton::Timeline::clock_ns() - before_ns;
    uint64_t ticks = 0;
    if (!stamps.read(0, {&ticks, 1}) || took_ns >= best_ns) continue;
    best_ns = took_ns;
    const std::lock_guard lock(mutex_);
    last_ticks_ = ticks;
    begin_ns_ = before_ns + took_ns / 2;
  }
  return {};
}

// The counter wraps after some bits: a time lies near the last one that was reported. The lock is held.
int64_t WorkSpans::host_ns(uint64_t ticks) {
  const uint32_t unused = 64 - context_->facts().timestamp_bits;
  const int64_t later = static_cast<int64_t>((ticks - last_ticks_) << unused) >> unused;
  last_ticks_ = ticks;
  ticks_since_ += later;
  const double since_ns = static_cast<double>(ticks_since_) * double{context_->facts().limits.timestampPeriod};
  return begin_ns_ + static_cast<int64_t>(since_ns);
}

void WorkSpans::add(std::span<const WorkSpan> spans) {
  const std::lock_guard lock(mutex_);
  if (!timeline_) return;
  for (const WorkSpan& span : spans) {
    const baton::Timeline::Label* label = span.label ? span.label->timeline_label() : nullptr;
    if (!label) label = timeline_->label("work", "device");
    const int64_t begin_ns = host_ns(span.begin), end_ns = host_ns(span.end);
    timeline_->add(track_, {begin_ns, end_ns - begin_ns, label, 0, label->take_flow()});
  }
}

void WorkSpans::begin() {
  const std::lock_guard lock(mutex_);
  ++under_way_;
}

void WorkSpans::end() {
  const std::lock_guard lock(mutex_);
  if (--under_way_ == 0) told_all_.notify_all();
}

void WorkSpans::flush() {
  std::unique_lock lock(mutex_);
  told_all_.wait_for(lock, kFlush, [&] { return under_way_ == 0; });
}

void WorkSpans::timeline_ends() {
  const std::lock_guard lock(mutex_);
  timeline_ = nullptr;
}

}  // namespace baton::hal::drivers::vulkan
