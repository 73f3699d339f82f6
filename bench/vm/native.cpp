// C at -O2 as a contender: the floor, and the reference for what a unit of work costs the machine.
#include "bench/vm/native.h"

#include <map>

#include "bench/support/contender.hpp"

namespace baton::bench {
namespace {

// The export is reached through a pointer that the compiler must load each time, as a host reaches a foreign function.
template <typename Export>
double call(const Work& work, uint64_t count, Export function) {
  Export volatile target = function;
  const std::vector<int32_t>& arguments = work.arguments;
  double answer = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if constexpr (std::is_invocable_v<Export>) {
      target();
    } else if constexpr (std::is_invocable_v<Export, int32_t>) {
      answer = static_cast<double>(target(arguments[0]));
    } else {
      answer = static_cast<double>(target(arguments[0], arguments[1]));
    }
  }
  return answer;
}

template <auto kFunction>
double call_of(const Work& work, uint64_t count) {
  return call(work, count, kFunction);
}

using Calls = double (*)(const Work& work, uint64_t count);

const std::map<std::string, Calls> kQuestions = {
    {"entry", call_of<&entry>},
    {"checked_call", call_of<&checked_call>},
    {"internal_call", call_of<&internal_call>},
    {"native_import", call_of<&native_import>},
    {"integer_loop", call_of<&integer_loop>},
    {"counted_loop", call_of<&counted_loop>},
    {"float_loop", call_of<&float_loop>},
    {"blob_reduction", call_of<&blob_reduction>},
    {"live_registers", call_of<&live_registers>},
};

class Native final : public Contender {
 public:
  void prepare(const Work& work) override {
    const auto question = kQuestions.find(work.question);
    if (question == kQuestions.end() || work.phase != Phase::call) fail("Native code has no such question.");
    calls_ = question->second;
    if (work.question == "blob_reduction") blob_reduction_prepare(work.arguments[0]);
  }

  double repeat(const Work& work, uint64_t count) override { return calls_(work, count); }

 private:
  Calls calls_ = nullptr;
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  baton::bench::Native native;
  return baton::bench::run_contender(argc, argv, native);
}
