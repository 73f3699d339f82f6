// By events: one before and one behind what is launched; their times count from a first event, whose moment on the host
// is known because the host waited for it.

#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "hal/drivers/cuda/symbols.hpp"
#include "hal/drivers/cuda/work_listener.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Label = Timeline::Label;

class EventListener final : public WorkListener, public Timeline::Source {
 public:
  EventListener(std::shared_ptr<const Symbols> symbols, Timeline& timeline)
      : symbols_(std::move(symbols)), timeline_(timeline), sources_(timeline.sources()) {
    sources_->add(*this);
  }
  ~EventListener() override { sources_->remove(*this); }

  void begin(const WorkLabel*, CUstream stream) override {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    Row& row = rows_[stream];
    if (!row.track) set_up(row, stream);
    row.open = record(stream);
  }

  void end(const WorkLabel* label, CUstream stream) override {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    Row& row = rows_[stream];
    const CUevent behind = record(stream);
    if (row.open && behind) row.ended.push_back({label ? label->timeline_label() : nullptr, row.open, behind});
    row.open = nullptr;
  }

  void captured(const WorkLabel*, std::span<const CUgraphNode>) override {}  // A graph is one piece of work here.
  void added_child(const WorkLabel*, CUgraphNode, std::vector<ChildNode>) override {}

  // Its streams are gone.
  void context_ends() override {
    flush();
    const std::lock_guard lock(mutex_);
    for (auto& [stream, row] : rows_) {
      symbols_->cuEventDestroy(row.anchor);
      for (const Ended& never : row.ended) {
        symbols_->cuEventDestroy(never.before);
        symbols_->cuEventDestroy(never.behind);
      }
    }
    rows_.clear();
  }

  void flush() override {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    for (auto& [stream, row] : rows_) {
      size_t told = 0;
      while (told < row.ended.size() && tell(row, row.ended[told])) ++told;
      row.ended.erase(row.ended.begin(), row.ended.begin() + static_cast<ptrdiff_t>(told));
    }
  }

  void timeline_ends() override {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  struct Ended {
    const Label* label;
    CUevent before;
    CUevent behind;
  };
  struct Row {
    Timeline::Track* track = nullptr;
    CUevent anchor = nullptr;
    int64_t anchor_ns = 0;
    CUevent open = nullptr;
    std::vector<Ended> ended;
  };

  CUevent record(CUstream stream) {
    CUevent event = nullptr;
    if (symbols_->cuEventCreate(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return nullptr;
    if (symbols_->cuEventRecord(event, stream) == CUDA_SUCCESS) return event;
    symbols_->cuEventDestroy(event);
    return nullptr;
  }

  void set_up(Row& row, CUstream stream) {
    row.track = &timeline_.track(text("cuda stream ", rows_.size()));
    row.anchor = record(stream);
    symbols_->cuStreamSynchronize(stream);
    row.anchor_ns = Timeline::clock_ns();
  }

  // False: the device has not come by yet.
  bool tell(const Row& row, const Ended& ended) {
    float until_ms = 0, took_ms = 0;
    if (symbols_->cuEventElapsedTime(&until_ms, row.anchor, ended.before) != CUDA_SUCCESS ||
        symbols_->cuEventElapsedTime(&took_ms, ended.before, ended.behind) != CUDA_SUCCESS) {
      return false;
    }
    const Label* const label = ended.label ? ended.label : timeline_.label("work", "device");
    timeline_.add(*row.track, {row.anchor_ns + static_cast<int64_t>(double{until_ms} * 1e6),
                               static_cast<int64_t>(double{took_ms} * 1e6), label, 0, label->take_flow()});
    symbols_->cuEventDestroy(ended.before);
    symbols_->cuEventDestroy(ended.behind);
    return true;
  }

  const std::shared_ptr<const Symbols> symbols_;
  Timeline& timeline_;  // Until `ended_`.
  const std::shared_ptr<Timeline::Sources> sources_;
  std::mutex mutex_;
  bool ended_ = false;                      // Guarded by mutex_.
  std::unordered_map<CUstream, Row> rows_;  // Guarded by mutex_.
};

}  // namespace

std::shared_ptr<WorkListener> listen_by_events(std::shared_ptr<const Symbols> symbols, Timeline& timeline) {
  return std::make_shared<EventListener>(std::move(symbols), timeline);
}

}  // namespace baton::hal::drivers::cuda
