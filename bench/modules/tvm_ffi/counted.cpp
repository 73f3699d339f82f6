// The rows of bench/budgets.txt that begin with `tvm_ffi.`: instructions as callgrind counts them, with Baton's part and
// with TVM-FFI's own (`own_...`).
#include "bench/support/counted.hpp"

#include "bench/modules/tvm_ffi/rows.hpp"

namespace baton::bench {
namespace {

std::vector<TvmFfiRow> rows;

void prepare() { rows = tvm_ffi_rows(BATON_BENCH_FUNCTIONS); }

template <size_t kRow, bool kOwn>
void work(uint64_t count) {
  (kOwn ? rows[kRow].own : rows[kRow].ours)->run(static_cast<int64_t>(count));
}

constexpr CountedRow kRows[] = {
    {"in_numbers", prepare, work<0, false>}, {"own_in_numbers", prepare, work<0, true>},
    {"in_view", prepare, work<1, false>},    {"own_in_view", prepare, work<1, true>},
    {"in_tensor", prepare, work<2, false>},  {"own_in_tensor", prepare, work<2, true>},
    {"out_number", prepare, work<3, false>}, {"own_out_number", prepare, work<3, true>},
    {"out_same", prepare, work<4, false>},   {"own_out_same", prepare, work<4, true>},
    {"out_again", prepare, work<5, false>},  {"own_out_again", prepare, work<5, true>},
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) { return baton::bench::run_counted(argc, argv, baton::bench::kRows); }
