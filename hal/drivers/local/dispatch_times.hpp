// DispatchTimes: how long kernels ran, by entry point. An app that wants to know gives one to the driver (Options);
// without it nothing is measured.
// Threads: internally synchronized.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace baton::hal::drivers::local {

class DispatchTimes {
 public:
  struct Row {
    uint64_t dispatches = 0;
    uint64_t busy_ns = 0;  // Summed over the workers that had a part in them.
  };

  // A worker ran a part of a dispatch; `first` for the part with the first workgroup.
  void add(std::string_view executable, std::string_view entry_point, uint64_t busy_ns, bool first) {
    const std::lock_guard lock(mutex_);
    Row& row = rows_[{std::string(executable), std::string(entry_point)}];
    row.dispatches += first ? 1 : 0;
    row.busy_ns += busy_ns;
  }

  using Rows = std::map<std::pair<std::string, std::string>, Row>;  // By executable and entry point.
  // The times that were added since the last call.
  Rows take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(rows_, {});
  }

 private:
  std::mutex mutex_;
  Rows rows_;
};

}  // namespace baton::hal::drivers::local
