#include "bench/hal/cuda_fixture.hpp"

#include <algorithm>
#include <chrono>

namespace baton::hal::drivers::cuda {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

std::vector<double> time_all(const std::vector<Contender>& contenders, int rounds) {
  std::vector<std::vector<double>> samples(contenders.size());
  for (int round = -3; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double start = now_us();
      contenders[i].run();
      const double spent = now_us() - start;
      contenders[i].after();
      if (round >= 0) samples[i].push_back(spent / contenders[i].units);
    }
  }
  std::vector<double> medians;
  for (auto& one : samples) medians.push_back(median(one));
  return medians;
}

void print_row(const char* what, double raw, double ours, const char* reach) {
  std::printf("| %-58s | %9.3f | %9.3f | %6.2f | %s |\n", what, raw, ours, raw > 0 ? ours / raw : 0.0, reach);
  std::fflush(stdout);
}

void check_answer(Bench& bench) {
  const auto recording = bench.record(2);
  bench.execute(*recording);
  bench.execute(*recording);
  bench.idle();
  const auto mapping = expect(bench.a->map(Access::kRead));
  for (const uint32_t value : mapping.as<uint32_t>()) {
    if (value != 3) expect(failure(StatusCode::kInternal, "The kernel gave ", value, " instead of 3."));
  }
}

}  // namespace baton::hal::drivers::cuda
