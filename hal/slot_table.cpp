#include "hal/slot_table.hpp"

#include <atomic>
#include <bit>

namespace baton::hal {
namespace {

std::atomic<uint64_t> last_identity{0};

// Looking at more single slots than half of a table costs what comparing all of it does.
size_t remembered(size_t slot_count) { return std::bit_ceil(slot_count / 2 + 16); }

}  // namespace

SlotTable::SlotTable(size_t slot_count)
    : identity_(last_identity.fetch_add(1, std::memory_order_relaxed) + 1),
      ranges_(slot_count),
      sets_(remembered(slot_count)) {}

}  // namespace baton::hal
