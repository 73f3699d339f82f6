#include "hal/drivers/cuda/recording.hpp"

#include "hal/drivers/cuda/graph.hpp"

namespace baton::hal::drivers::cuda {

Recording::Recording(hal::Device& device, const RecordingOptions& options) : hal::Recording(device, options) {}
Recording::~Recording() = default;

std::string Recording::description() const {
  std::string description = text("in recording \"", name(), "\"");
  for (size_t i = 0; i < kernel_names_.size(); ++i) {
    description += text(i == 0 ? " (kernels '" : ", '", kernel_names_[i], "'");
  }
  return kernel_names_.empty() ? description : description + ")";
}

Status Recording::issue(const Execution& execution) const {
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
