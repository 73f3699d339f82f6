// The module "custom": call.async doubles a tensor on a thread of its own. It is called before its argument is there,
// returns before its result is, and two fences say when: `wait` is passed when the argument may be used, `signal` is
// finished when the result may. Parameter fail=1: the work fails instead, and whoever waits for it learns why.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "modules/sdk/module.hpp"

namespace {

using namespace baton::sdk;

void say(const char* what) { std::fprintf(stderr, "ASYNC: %s\n", what); }

class Custom final : public Module<Custom> {
 public:
  explicit Custom(const Parameters& parameters) : fails_(parameters.find("fail").has_value()) {}
  ~Custom() {
    for (std::thread& worker : workers_) worker.join();
  }

  Result<Ref<BufferView>> call_async(BufferView& source, WaitFence wait, SignalFence signal) {
    BATON_ASSIGN_OR_RETURN(const Ref<Device> device, source.buffer()->device());
    // The result's memory comes in the order of the queue: once the argument is there, and then `ready` is passed.
    BATON_ASSIGN_OR_RETURN(const Ref<Fence> ready, device->make_fence());
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> buffer,
                           device->queue_allocate(wait.get(), ready.get(), {.length = source.buffer()->length()}));
    BATON_ASSIGN_OR_RETURN(Ref<BufferView> target, BufferView::make(*buffer, source.element_type(), source.shape()));
    workers_.emplace_back(
        [this, source = Ref<BufferView>(&source), target, ready, signal = std::move(signal)]() mutable {
          say("BEFORE WAIT");
          Status status = ready->wait();
          say("AFTER WAIT");
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          if (status.ok()) status = twice(*source, *target);
          say("BEFORE SIGNAL");
          signal.finish(std::move(status));
          say("AFTER SIGNAL");
        });
    return target;
  }

 private:
  Status twice(const BufferView& source, const BufferView& target) const {
    if (fails_) return failure(StatusCode::kDataLoss, "The worker lost its numbers.");
    BATON_ASSIGN_OR_RETURN(const Mapping<const int32_t> from, source.map<const int32_t>());
    BATON_ASSIGN_OR_RETURN(const Mapping<int32_t> to, target.map<int32_t>());
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * 2;
    return {};
  }

  const bool fails_;
  std::vector<std::thread> workers_;
};

}  // namespace

BATON_MODULE_QUERY(create_custom_module, Custom, "custom", BATON_FUNCTION("call.async", &Custom::call_async));
