// FenceWait: what fence.await returns: a status code when that is known at once, else the object that the invocation
// waits on until all fences are passed, one has failed, or the time is up.
// Threads: a local variable.
#pragma once

#include "modules/hal_module/objects.hpp"

namespace baton::modules::exports {

// As an object of a waitable type it is what a suspended program waits on.
// Threads: immutable.
class PendingFences final : public sdk::Object<PendingFences> {
 public:
  static constexpr char kTypeName[] = "hal.pending_fences";

  // A deadline of the monotonic clock, -1 for none.
  PendingFences(Ref<hal::Fence> fences, int64_t deadline_ns) : fences_(std::move(fences)), deadline_ns_(deadline_ns) {}

  int32_t wait(int64_t timeout_ns);

 private:
  Ref<hal::Fence> fences_;
  int64_t deadline_ns_;
};

class FenceWait {
 public:
  explicit FenceWait(int32_t code) : code_(code) {}
  explicit FenceWait(sdk::Ref<PendingFences> pending) : pending_(std::move(pending)) {}

 private:
  friend struct sdk::detail::Returned<FenceWait>;

  int32_t code_ = -1;
  sdk::Ref<PendingFences> pending_;
};

}  // namespace baton::modules::exports

namespace baton::sdk::detail {

template <>
struct Returned<modules::exports::FenceWait> {
  template <typename Out>
  static constexpr void write(Out& out) {
    Returned<int32_t>::write(out);
  }
  static baton_status* store(baton_call* call, modules::exports::FenceWait& result) {
    if (result.pending_) {
      call->pending = result.pending_.detach();
    } else {
      call->values[0] = slot_of(result.code_);
    }
    return nullptr;
  }
  static baton_status* resume(baton_call* call) {
    auto* pending = cast<modules::exports::PendingFences>(call->resumed);
    if (!pending) return failure(StatusCode::kInternal, "A wait is resumed with what it did not wait for.").release();
    call->values[0] = slot_of(pending->wait(0));
    return nullptr;
  }
};

}  // namespace baton::sdk::detail
