// A program whose rows callgrind counts: `bench_hal_counted record_pair 1000` does the work of one row 1000 times.
//
// bench/budgets.py starts it under callgrind, which counts what happens inside `measured_region` only.
#pragma once

#include <cstdint>
#include <span>

namespace baton::bench {

struct CountedRow {
  const char* name;
  // Gets ready, untimed, and returns what measured_region will call with the count.
  void (*prepare)();
  void (*work)(uint64_t count);
};

// The `main` of such a program.
int run_counted(int argc, char** argv, std::span<const CountedRow> rows);

}  // namespace baton::bench
