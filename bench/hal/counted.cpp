// The rows of bench/budgets.txt that begin with `hal.`: instructions a dispatch, as callgrind counts them.
#include "bench/support/counted.hpp"

#include <memory>
#include <vector>

#include "bench/hal/fixture.hpp"

namespace baton::bench {
namespace {

std::unique_ptr<Fixture> fixture;
Ref<hal::Recording> recording;
std::vector<hal::BufferRange> table;

void open_null() { fixture = std::make_unique<Fixture>("null"); }
void open_local() { fixture = std::make_unique<Fixture>("local-sync"); }

void record_validated(uint64_t count) { fixture->record_pairs(count, true); }
void record_unchecked(uint64_t count) { fixture->record_pairs(count, false); }

template <uint64_t kDispatches, uint32_t kSlots>
void make_recording() {
  open_local();
  recording = fixture->record(kDispatches, kSlots);
  table.assign(kSlots, hal::BufferRange(fixture->source));
}
void execute(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) fixture->execute(*recording, {.buffers = table});
}
void record_execute_wait(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) fixture->execute_and_wait(*fixture->record(1, 0));
}

constexpr CountedRow kRows[] = {
    {"record_pair_null", open_null, record_validated},
    {"record_pair_local", open_local, record_validated},
    {"record_pair_unchecked", open_local, record_unchecked},
    {"execute_1", make_recording<1, 0>, execute},
    {"execute_100", make_recording<100, 0>, execute},
    {"execute_100_slots_10", make_recording<100, 10>, execute},
    {"record_execute_wait", open_local, record_execute_wait},
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) { return baton::bench::run_counted(argc, argv, baton::bench::kRows); }
