// The module "counter": counts in steps. Programs import counter.next and counter.skip; `?step=5` behind the plugin's
// name sets the step. One object of the class serves each context.
#include "modules/sdk/module.hpp"

#include <charconv>

namespace {

using namespace baton::sdk;

class Counter final : public Module<Counter> {
 public:
  explicit Counter(const Parameters& parameters) {
    const std::string_view step = parameters.find("step").value_or("1");
    std::from_chars(step.data(), step.data() + step.size(), step_);
  }

  // A function that cannot fail returns its result,
  int64_t next() { return count_ += step_; }

  // one that can returns a Result or a Status; the program's caller reads the sentence.
  Result<int64_t> skip(int64_t steps) {
    if (steps < 0) return failure(StatusCode::kInvalidArgument, "The counter skips forward, not ", steps, " steps.");
    return count_ += steps * step_;
  }

 private:
  int64_t step_ = 1;
  int64_t count_ = 0;
};

}  // namespace

BATON_EXPORT_MODULE(Counter, "counter", BATON_FUNCTION("next", &Counter::next), BATON_FUNCTION("skip", &Counter::skip));
