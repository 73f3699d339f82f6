#include "hal/drivers/local/processor.hpp"

#include "base/text.hpp"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace baton::hal::drivers::local {
namespace {

#if defined(__x86_64__)
struct Feature {
  int bit;  // Of data[0].
  const char* name;
  bool here;
};

// The compiler's question takes a literal, so the table is filled where it is asked.
template <typename Visitor>
void visit_features(Visitor visit) {
  __builtin_cpu_init();
#define FEATURE(bit, name) visit(Feature{bit, name, __builtin_cpu_supports(name) != 0});
  FEATURE(0, "sse3")
  FEATURE(1, "ssse3")
  FEATURE(2, "sse4.1")
  FEATURE(3, "sse4.2")
  FEATURE(4, "avx")
  FEATURE(5, "fma")
  FEATURE(6, "f16c")
  FEATURE(7, "avx2")
  FEATURE(8, "bmi")
  FEATURE(9, "bmi2")
  FEATURE(10, "popcnt")
  FEATURE(16, "avx512f")
  FEATURE(17, "avx512cd")
  FEATURE(18, "avx512bw")
  FEATURE(19, "avx512dq")
  FEATURE(20, "avx512vl")
  FEATURE(21, "avx512vnni")
  FEATURE(22, "avx512bf16")
#undef FEATURE
}
#endif

baton_processor detect() {
  baton_processor processor{};
#if defined(__x86_64__)
  visit_features([&](const Feature& feature) { processor.data[0] |= uint64_t{feature.here} << feature.bit; });
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

std::string processor_features() {
#if defined(__x86_64__)
  std::string words;
  visit_features([&](const Feature& feature) {
    if (feature.here) words += text(words.empty() ? "" : " ", feature.name);
  });
  return words;
#else
  return text("hwcap ", host_processor().data[0], " hwcap2 ", host_processor().data[1]);
#endif
}

}  // namespace baton::hal::drivers::local
