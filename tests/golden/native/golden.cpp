// The native module "golden" that the golden programs call: a fixed function, variadic ones, one that answers later,
// one whose result is awaited, one that fails.
#include <atomic>
#include <thread>

#include "modules/sdk/module.hpp"
#include "modules/sdk/pending.hpp"

namespace {

// Ready at the third look, with the code it was given.
class Event final : public baton::sdk::Object<Event> {
 public:
  static constexpr char kTypeName[] = "golden.event";

  explicit Event(int32_t code) : code_(code) {}
  int32_t wait(int64_t) { return ++looks_ < 3 ? -1 : code_; }
  int32_t code() const { return code_; }

 private:
  std::atomic<int> looks_ = 0;
  int32_t code_;
};

class Golden final : public baton::sdk::Module<Golden> {
 public:
  double scale(int32_t count, double factor) { return count * factor; }

  int32_t sum(Variadic<int32_t> numbers) {
    int32_t total = 0;
    for (int32_t number : numbers) total += number;
    return total;
  }

  double weighted(Variadic<std::tuple<int32_t, double>> pairs, Variadic<int64_t> offsets) {
    double total = 0;
    for (auto [count, weight] : pairs) total += count * weight;
    for (int64_t offset : offsets) total += static_cast<double>(offset);
    return total;
  }

  baton::sdk::Pending<int32_t> later(int32_t number) {
    baton::sdk::Promise<int32_t> promise;
    baton::sdk::Pending<int32_t> pending = promise.pending();
    std::thread([promise = std::move(promise), number]() mutable { promise.complete(number + 1); }).detach();
    return pending;
  }

  Ref<Event> event(int32_t code) { return baton::sdk::make<Event>(code); }

  int32_t code(const Event* event) { return event ? event->code() : -1; }

  Status fail(int32_t code) { return baton::sdk::failure(StatusCode::kUnavailable, "golden.fail was given ", code); }
};

}  // namespace

BATON_EXPORT_MODULE(Golden, "golden", BATON_FUNCTION("scale", &Golden::scale), BATON_FUNCTION("sum", &Golden::sum),
                    BATON_FUNCTION("weighted", &Golden::weighted), BATON_FUNCTION("later", &Golden::later),
                    BATON_FUNCTION("event", &Golden::event), BATON_FUNCTION("code", &Golden::code),
                    BATON_FUNCTION("fail", &Golden::fail));
