// The rows of bench/budgets.txt that begin with `tvm_ffi.`: instructions as callgrind counts them, with Baton's part and
// with TVM-FFI's own (`own_...`).
#include "bench/support/counted.hpp"

#include <cstdlib>
#include <string_view>

#include "bench/modules/tvm_ffi/rows.hpp"

namespace baton::bench {
namespace {

std::vector<TvmFfiRow> rows;

void prepare() { rows = tvm_ffi_rows(BATON_BENCH_FUNCTIONS); }

const TvmFfiRow& row_of(const char* name) {
  for (const TvmFfiRow& row : rows) {
    if (std::string_view(row.name) == name) return row;
  }
  std::abort();
}

void run_ours(const char* name, uint64_t count) { row_of(name).ours->run(static_cast<int64_t>(count)); }
void run_own(const char* name, uint64_t count) { row_of(name).own->run(static_cast<int64_t>(count)); }

#define OURS(name)                                                 \
  CountedRow {                                                     \
#name, prepare, [](uint64_t count) { run_ours(#name, count); } \
  }
#define OWN(name)                                                        \
  CountedRow {                                                           \
    "own_" #name, prepare, [](uint64_t count) { run_own(#name, count); } \
  }
#define BOTH(name) OURS(name), OWN(name)

constexpr CountedRow kRows[] = {
    BOTH(in_numbers),  BOTH(in_view),      BOTH(in_tensor),  BOTH(in_view_again), BOTH(in_tensor_again),
    BOTH(out_number),  BOTH(out_same),     BOTH(out_again),  BOTH(in_numbers_c),  BOTH(in_view_c),
    BOTH(in_tensor_c), BOTH(out_number_c), BOTH(out_same_c), BOTH(out_again_c),
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) { return baton::bench::run_counted(argc, argv, baton::bench::kRows); }
