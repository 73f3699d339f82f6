#include "hal/drivers/local/processor.hpp"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace baton::hal::drivers::local {
namespace {

baton_processor detect() {
  baton_processor processor{};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto set = [&](bool has, int bit) { processor.data[0] |= uint64_t{has} << bit; };
  set(__builtin_cpu_supports("sse3"), 0);
  set(__builtin_cpu_supports("ssse3"), 1);
  set(__builtin_cpu_supports("sse4.1"), 2);
  set(__builtin_cpu_supports("sse4.2"), 3);
  set(__builtin_cpu_supports("avx"), 4);
  set(__builtin_cpu_supports("fma"), 5);
  set(__builtin_cpu_supports("f16c"), 6);
  set(__builtin_cpu_supports("avx2"), 7);
  set(__builtin_cpu_supports("bmi"), 8);
  set(__builtin_cpu_supports("bmi2"), 9);
  set(__builtin_cpu_supports("popcnt"), 10);
  set(__builtin_cpu_supports("avx512f"), 16);
  set(__builtin_cpu_supports("avx512cd"), 17);
  set(__builtin_cpu_supports("avx512bw"), 18);
  set(__builtin_cpu_supports("avx512dq"), 19);
  set(__builtin_cpu_supports("avx512vl"), 20);
  set(__builtin_cpu_supports("avx512vnni"), 21);
  set(__builtin_cpu_supports("avx512bf16"), 22);
#elif defined(__aarch64__)
  processor.data[0] = getauxval(AT_HWCAP);
  processor.data[1] = getauxval(AT_HWCAP2);
#endif
  return processor;
}

}  // namespace

const baton_processor& host_processor() {
  static const baton_processor processor = detect();
  return processor;
}

}  // namespace baton::hal::drivers::local
