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

#define ROWS(X)                                                                                                      \
  X(in_numbers)                                                                                                      \
  X(in_view) X(in_tensor) X(in_view_again) X(in_tensor_again) X(out_number) X(out_same) X(out_again) X(in_numbers_c) \
      X(in_view_c) X(in_tensor_c) X(out_number_c) X(out_same_c) X(out_again_c)
#define ROW(name)                                                                                 \
  {#name, prepare, [](uint64_t count) { row_of(#name).ours->run(static_cast<int64_t>(count)); }}, \
      {"own_" #name, prepare, [](uint64_t count) { row_of(#name).own->run(static_cast<int64_t>(count)); }},
constexpr CountedRow kRows[] = {ROWS(ROW)};
#undef ROW
#undef ROWS

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) { return baton::bench::run_counted(argc, argv, baton::bench::kRows); }
