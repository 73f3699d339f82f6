// What a function of TVM-FFI costs when a program calls it, beside TVM-FFI's own call of the same function; and what a
// program's function costs when TVM-FFI calls it, beside one of TVM-FFI's that does the same. Nanoseconds a call,
// medians of rounds that take turns.
//
//   tvm_ffi_bench functions.so             the library of tests/modules/tvm_ffi
//   tvm_ffi_bench functions.so --threads   the same in a process that has had a second thread, as frontends have
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <thread>

#include "bench/modules/tvm_ffi/rows.hpp"

namespace {

constexpr int64_t kCalls = 10000;
constexpr int kRounds = 51;

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

// Of this thread, which does all the work: what else the machine does is not counted.
double thread_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double time_of(const baton::bench::Calls& calls) {
  const double begin = thread_nanoseconds();
  calls.run(kCalls);
  return (thread_nanoseconds() - begin) / kCalls;
}

void compare(const baton::bench::TvmFfiRow& row) {
  std::vector<double> own_times, our_times;
  for (int i = 0; i < kRounds; ++i) {
    own_times.push_back(time_of(*row.own));
    our_times.push_back(time_of(*row.ours));
  }
  const double theirs = median(own_times), baton = median(our_times);
  std::printf("%-46s %8.1f %8.1f %6.2f\n", row.what, theirs, baton, baton / theirs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  if (argc > 2 && std::string_view(argv[2]) == "--threads") std::thread([] {}).join();
  std::printf("%-46s %8s %8s %6s\n", "ns a call", "TVM-FFI", "Baton", "ratio");
  for (const baton::bench::TvmFfiRow& row : baton::bench::tvm_ffi_rows(argv[1])) compare(row);
  return 0;
}
