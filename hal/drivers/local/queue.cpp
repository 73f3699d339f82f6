#include "hal/drivers/local/queue.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "hal/device.hpp"
#include "hal/drivers/common/host_queue.hpp"
#include "hal/drivers/local/slot_bases.hpp"
#include "hal/drivers/local/worker.hpp"

namespace baton::hal::drivers::local {
namespace {

class SyncQueue final : public HostQueue {
 public:
  explicit SyncQueue(Device& device) : HostQueue(device) {}

 private:
  Status run_recording(hal::Recording& recording, const BindingTable& table) override {
    const SlotBases bases(table);
    Execution execution{device(), bases.addresses, bases.lengths, table.constants.data()};
    Worker& worker = this_worker();
    worker.refresh_processor_id();
    for (const Record* record = static_cast<Recording&>(recording).first_record(); record; record = record->next) {
      uint64_t tile_count = record->tile_count;
      if (record->count_tiles) BATON_TRY(record->count_tiles(*record, execution, tile_count));
      BATON_TRY(record->run(*record, execution, worker, {0, tile_count}));
    }
    return {};
  }
};

// The tiles of one phase, run by several threads. The first failure wins, and what has not begun is left out.
class PhaseRun {
 public:
  PhaseRun(const Phase& phase, const Execution& execution, uint64_t tile_count)
      : phase_(phase), execution_(execution), tile_count_(tile_count) {}

  Status run(TaskPool& pool) {
    pool.run_tiles({run_tiles, this, tile_count_, phase_.tile_cost()});
    return std::move(failure_);
  }

 private:
  static void run_tiles(void* self, Worker& worker, TileRange tiles) {
    static_cast<PhaseRun*>(self)->run_records(worker, tiles);
  }

  void run_records(Worker& worker, TileRange tiles) {
    const auto entries = phase_.entries;
    auto entry = std::upper_bound(entries.begin(), entries.end(), tiles.begin,
                                  [](uint64_t tile, const PhaseEntry& at) { return tile < at.first_tile; }) -
                 1;
    while (tiles.begin < tiles.end && !failed_.load(std::memory_order_relaxed)) {
      const auto next = entry + 1;
      const uint64_t end = std::min(tiles.end, next == entries.end() ? tile_count_ : next->first_tile);
      const TileRange own{tiles.begin - entry->first_tile, end - entry->first_tile};
      if (own.begin != own.end) keep(entry->record->run(*entry->record, execution_, worker, own));
      tiles.begin = end;
      entry = next;
    }
  }

  void keep(Status status) {
    if (status.ok()) [[likely]]
      return;
    std::lock_guard lock(mutex_);
    failed_.store(true, std::memory_order_relaxed);
    if (failure_.ok()) failure_ = std::move(status);
  }

  const Phase& phase_;
  const Execution& execution_;
  const uint64_t tile_count_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status failure_;  // Guarded by mutex_ until the job is over.
};

class TaskQueue final : public HostQueue {
 public:
  TaskQueue(Device& device, TaskPool& pool) : HostQueue(device, true), pool_(pool) {}

 private:
  // What is known to take no longer than handing it over would.
  bool runs_inline(const hal::Recording& recording) const override {
    const auto& work = static_cast<const Recording&>(recording);
    if (work.runs_host_code()) return false;
    const double limit_ns = pool_.inline_ns();
    return work.expected_ns(limit_ns) <= limit_ns;
  }
  bool runs_on_waiter(const hal::Recording& recording, int64_t left_ns) const override {
    const auto& work = static_cast<const Recording&>(recording);
    if (work.runs_host_code()) return false;
    const double enough_ns = static_cast<double>(left_ns) / 2;
    return left_ns < 0 || work.expected_ns(enough_ns) <= enough_ns;
  }
  WaitHelper* wait_helper() override { return pool_.wait_helper().get(); }
  void schedule(Task& task) override { pool_.has_workers() ? pool_.submit(task) : HostQueue::schedule(task); }
  void conclude_deferred(std::span<const SemaphorePoint> signals, const Status& result) override {
    const TaskPool::LastAct last_act(pool_);
    conclude(signals, result);
  }

  Status run_recording(hal::Recording& recording, const BindingTable& table) override {
    const SlotBases bases(table);
    Execution execution{device(), bases.addresses, bases.lengths, table.constants.data()};
    this_worker().refresh_processor_id();
    for (const Phase* phase = static_cast<Recording&>(recording).first_phase(); phase; phase = phase->next) {
      BATON_TRY(run_phase(*phase, execution));
    }
    return {};
  }

  Status run_phase(const Phase& phase, Execution& execution) {
    uint64_t tile_count = phase.tile_count;
    const Record& first = *phase.entries[0].record;
    if (first.count_tiles) BATON_TRY(first.count_tiles(first, execution, tile_count));
    if (tile_count == 0) return {};
    return PhaseRun(phase, execution, tile_count).run(pool_);
  }

  TaskPool& pool_;
};

}  // namespace

std::unique_ptr<Queue> make_sync_queue(Device& device) { return std::make_unique<SyncQueue>(device); }

std::unique_ptr<Queue> make_task_queue(Device& device, TaskPool& pool) {
  return std::make_unique<TaskQueue>(device, pool);
}

}  // namespace baton::hal::drivers::local
