#include "hal/drivers/cuda/recording.hpp"

#include "hal/drivers/cuda/graph.hpp"
#include "hal/drivers/cuda/nccl_channel.hpp"
#include "hal/drivers/cuda/work_listener.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {

Recording::Recording(hal::Device& device, const RecordingOptions& options)
    : hal::Recording(device, options), label_(work_label()) {}
Recording::~Recording() = default;

std::string Recording::description() const {
  std::string description = text("in recording \"", name(), "\"");
  for (size_t i = 0; i < kernel_names_.size(); ++i) {
    description += text(i == 0 ? " (kernels '" : ", '", kernel_names_[i], "'");
  }
  return kernel_names_.empty() ? description : description + ")";
}

Status Recording::issue_heard(const Execution& execution, WorkListener& listener) const {
  for (Record* record = first_; record; record = record->next) {
    listener.begin(record->label, execution.stream.handle());
    Status issued = record->verbs->issue(*record, execution);
    listener.end(record->label, execution.stream.handle());
    BATON_TRY(std::move(issued));
  }
  return {};
}

Status Recording::issue(const Execution& execution) const {
  if (WorkListener* listener = execution.context.work_listener()) [[unlikely]]
    return issue_heard(execution, *listener);
  for (Record* record = first_; record; record = record->next) {
    BATON_TRY(record->verbs->issue(*record, execution));
  }
  return {};
}

Graph& Recording::graph() {
  if (Graph* made = made_graph_.load(std::memory_order_acquire)) return *made;
  std::lock_guard lock(graph_mutex_);
  if (!graph_) graph_ = std::make_unique<Graph>(*this);
  made_graph_.store(graph_.get(), std::memory_order_release);
  return *graph_;
}

}  // namespace baton::hal::drivers::cuda
