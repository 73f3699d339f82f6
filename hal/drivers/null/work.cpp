#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of_bindings(std::span<const Binding> bindings, Table table) {
  Work work;
  for (const Binding& binding : bindings) {
    const ResolvedRange range = resolve(binding, table);
    const uint64_t length = range.end == kWholeLength ? 0 : range.end - range.start;
    if (has_all(binding.access, Access::kRead)) work.bytes_read += length;
    if (has_all(binding.access, Access::kWrite)) work.bytes_written += length;
  }
  work.bounded = bindings.empty();
  return work;
}

}  // namespace baton::hal::drivers::null
