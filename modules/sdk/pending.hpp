// Results that come later: a function returns Pending<T>, the program goes on elsewhere, and some thread completes the
// Promise<T> that belongs to it.
//
//   Pending<int64_t> read(int32_t channel) {
//     Promise<int64_t> promise;
//     Pending<int64_t> pending = promise.pending();
//     std::thread([promise = std::move(promise), channel]() mutable { promise.complete(ask(channel)); }).detach();
//     return pending;
//   }
//
// T is any result of function.hpp but a Status; void for none. If the promise is completed before the function returns, the
// program goes on at once.
// Threads: a Promise may be completed from any thread; a Pending is externally synchronized.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "modules/sdk/function.hpp"

namespace baton::sdk {

// What a Promise<T> is completed with.
template <typename T>
struct OutcomeOf {
  using type = Result<T>;
};
template <>
struct OutcomeOf<void> {
  using type = Status;
};
template <typename T>
using Outcome = typename OutcomeOf<T>::type;

namespace detail {

// The two halves share it. As an object of a waitable type it is what the program waits on.
template <typename T>
class Operation final : public Object<Operation<T>> {
 public:
  static constexpr char kTypeName[] = "pending";

  void complete(Outcome<T> outcome) {
    {
      std::lock_guard lock(mutex_);
      if (outcome_) return;  // the first one counts
      code_ = code_of(outcome);
      outcome_.emplace(std::move(outcome));
    }
    completed_.notify_all();
  }

  bool ready() {
    std::lock_guard lock(mutex_);
    return outcome_.has_value();
  }

  // Once, after it is ready.
  Outcome<T> take() {
    std::lock_guard lock(mutex_);
    return std::move(*outcome_);
  }

  // baton_object_type.wait: -1 while pending, else a status code.
  int32_t wait(int64_t timeout_ns) {
    constexpr int64_t kLongestNs = int64_t{365} * 24 * 3600 * 1'000'000'000;  // beyond it the clock would overflow
    std::unique_lock lock(mutex_);
    const auto done = [this] { return outcome_.has_value(); };
    if (timeout_ns < 0 || timeout_ns > kLongestNs) {
      completed_.wait(lock, done);
    } else if (!completed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), done)) {
      return -1;
    }
    return code_;
  }

 private:
  static int32_t code_of(const Status& status) { return static_cast<int32_t>(status.code()); }
  template <typename R>
  static int32_t code_of(const Result<R>& result) {
    return result.has_value() ? BATON_OK : code_of(result.error());
  }

  std::mutex mutex_;
  std::condition_variable completed_;
  std::optional<Outcome<T>> outcome_;
  int32_t code_ = BATON_OK;
};

}  // namespace detail

template <typename T>
class Pending {
 public:
  // Something that is there already: a T, a Status, a Result<T>.
  template <typename Ready>
  requires std::convertible_to<Ready, Outcome<T>> Pending(Ready&& ready)  // NOLINT: an outcome is one
      : operation_(sdk::make<detail::Operation<T>>()) {
    operation_->complete(std::forward<Ready>(ready));
  }

  bool ready() const { return operation_->ready(); }

 private:
  template <typename>
  friend class Promise;
  template <typename>
  friend struct detail::Returned;
  explicit Pending(Ref<detail::Operation<T>> operation) : operation_(std::move(operation)) {}

  Ref<detail::Operation<T>> operation_;
};

// The side that delivers. One that goes without having delivered fails the operation, so that no waiter waits for ever.
template <typename T>
class Promise {
 public:
  Promise() : operation_(sdk::make<detail::Operation<T>>()) {}
  Promise(Promise&& other) noexcept = default;
  Promise& operator=(Promise&&) = delete;
  ~Promise() {
    if (operation_) operation_->complete(Status(StatusCode::kAborted, "The operation was dropped before it was done."));
  }

  Pending<T> pending() const { return Pending<T>(operation_); }

  // A T, a Status, or a Result<T>; for void a Status, ok when left out.
  void complete(Outcome<T> outcome) { operation_->complete(std::move(outcome)); }
  void complete() requires std::is_void_v<T> { operation_->complete(Status()); }

 private:
  Ref<detail::Operation<T>> operation_;
};

namespace detail {

template <typename T>
struct Returned<Pending<T>> : Returned<T> {
  static baton_status* store(baton_call* call, Pending<T>& result) {
    if (result.ready()) return deliver(call, *result.operation_);
    call->pending = result.operation_.detach();
    return nullptr;
  }
  static baton_status* resume(baton_call* call) {
    auto* operation = cast<Operation<T>>(call->resumed);
    if (!operation) return failure(StatusCode::kInternal, "A call is resumed with what it did not wait for.").release();
    return deliver(call, *operation);
  }

 private:
  static baton_status* deliver(baton_call* call, Operation<T>& operation) {
    Outcome<T> outcome = operation.take();
    return detail::store(call, outcome);
  }
};

}  // namespace detail
}  // namespace baton::sdk
