#include "bench/support/counted.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace baton::bench {

// Where callgrind collects (--toggle-collect=measured_region): not inlined, and named without mangling.
extern "C" __attribute__((noinline)) void measured_region(const CountedRow* row, uint64_t count) { row->work(count); }

int run_counted(int argc, char** argv, std::span<const CountedRow> rows) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s ROW COUNT\n", argv[0]), 2;
  for (const CountedRow& row : rows) {
    if (std::string_view(row.name) != argv[1]) continue;
    row.prepare();
    row.work(16);  // What happens only once, as the first blocks of a pool, is not counted.
    measured_region(&row, std::strtoull(argv[2], nullptr, 10));
    return 0;
  }
  return std::fprintf(stderr, "no row is called '%s'\n", argv[1]), 1;
}

}  // namespace baton::bench
