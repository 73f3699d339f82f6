// WorkSpans: tells a host's timeline when the device ran what, by timestamps behind each command.
//
// A device has them when its driver was given a timeline (Options); else the queue looks at a null pointer and no more. The
// clocks are compared once, when the device is opened; commands that run side by side are told one behind the other.
// Threads: internally synchronized.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>

#include "base/timeline.hpp"
#include "hal/drivers/vulkan/context.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::vulkan {

class Timeline;

// By the device's clock.
struct WorkSpan {
  const WorkLabel* label;  // Null: nobody named it.
  uint64_t begin, end;
};

class WorkSpans final : public baton::Timeline::Source {
 public:
  // `told` outlives the device's work or says that it ends. UNIMPLEMENTED where the queue takes no timestamps.
  static Result<std::shared_ptr<WorkSpans>> make(Timeline& device, baton::Timeline& told, std::string_view row);
  ~WorkSpans();
  WorkSpans(const WorkSpans&) = delete;
  WorkSpans& operator=(const WorkSpans&) = delete;

  // An execution is under way, and was told of.
  void begin();
  void end();
  void add(std::span<const WorkSpan> spans);

  // A little while for what the device is through with.
  void flush() override;
  void timeline_ends() override;

 private:
  WorkSpans(Ref<Context> context, baton::Timeline& told, std::string_view row);
  Status compare_clocks(Timeline& device);
  int64_t host_ns(uint64_t ticks);

  const Ref<Context> context_;
  const std::shared_ptr<baton::Timeline::Sources> sources_;
  baton::Timeline::Track& track_;  // Of the timeline, until `ended_`.
  std::mutex mutex_;
  std::condition_variable told_all_;
  baton::Timeline* timeline_;  // Guarded by mutex_; null: it ended.
  int under_way_ = 0;          // Guarded by mutex_.
  int64_t begin_ns_ = 0;       // Guarded by mutex_: when the clocks were compared,
  int64_t ticks_since_ = 0;    // Guarded by mutex_: and from then to what was told last,
  uint64_t last_ticks_ = 0;    // Guarded by mutex_: which the device called so.
};

}  // namespace baton::hal::drivers::vulkan
