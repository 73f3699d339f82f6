// WorkLabel: the name that a device's observer gives to what this thread records or submits now (observed_device.hpp). A
// driver keeps the label beside the work and reports it when the work ran; without a label it reports nothing.
// Threads: told from any thread.
#pragma once

#include <cstdint>
#include <utility>

#include "base/timeline.hpp"

namespace baton::hal {

// When a thread ran a command or a part of it, by Timeline::clock_ns().
struct WorkPart {
  int64_t begin_ns;
  int64_t duration_ns;
  bool first;  // It has the beginning of the command.
};

class WorkLabel {
 public:
  // By drivers that run on the host, on the thread that ran it.
  virtual void ran(const WorkPart&) const {}
  // For drivers that add to a timeline by themselves (drivers/cuda/work_listener.hpp); null: it is of none.
  virtual const Timeline::Label* timeline_label() const { return nullptr; }

 protected:
  ~WorkLabel() = default;
};

// Null: there is no observer.
inline const WorkLabel*& work_label() {
  thread_local const WorkLabel* label = nullptr;
  return label;
}

class WorkLabelScope {
 public:
  explicit WorkLabelScope(const WorkLabel* label) : before_(std::exchange(work_label(), label)) {}
  ~WorkLabelScope() { work_label() = before_; }
  WorkLabelScope(const WorkLabelScope&) = delete;
  WorkLabelScope& operator=(const WorkLabelScope&) = delete;

 private:
  const WorkLabel* before_;
};

}  // namespace baton::hal
