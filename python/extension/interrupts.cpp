#include "python/extension/interrupts.hpp"

#include "vm/invocation.hpp"

namespace baton::python {
namespace {

constexpr int64_t kBriefNs = 100'000;

// Of the process, as signals are: one call watches at a time, the outermost of the main thread.
std::atomic<bool> interrupted{false};
std::atomic<void (*)(int)> python_handler{nullptr};
std::atomic<bool> is_watching{false};

void note_interrupt(int number) {
  interrupted.store(true, std::memory_order_relaxed);
  if (void (*next)(int) = python_handler.load(std::memory_order_relaxed)) next(number);
}

bool raises_keyboard_interrupt() {
  const nb::module_ signals = nb::module_::import_("signal");
  return signals.attr("getsignal")(SIGINT).is(signals.attr("default_int_handler"));
}

bool is_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

Interruptible::Interruptible(vm::Invocation& invocation, std::atomic<bool>& was_brief)
    : invocation_(&invocation), was_brief_(&was_brief), begin_ns_(vm::monotonic_clock_ns()) {
  const bool is_inside = is_watching.load(std::memory_order_relaxed);  // Of a call that watches, if on its thread.
  if ((was_brief.load(std::memory_order_relaxed) && !is_inside) || !is_main_thread()) return;
  if (is_inside) {
    is_inner_ = true;
    invocation.watch(&interrupted);
    return;
  }
  if (!raises_keyboard_interrupt()) return;
  interrupted.store(false, std::memory_order_relaxed);
  struct sigaction ours {};
  if (sigaction(SIGINT, nullptr, &before_) != 0 || (before_.sa_flags & SA_SIGINFO) || before_.sa_handler == SIG_DFL ||
      before_.sa_handler == SIG_IGN) {
    return;
  }
  python_handler.store(before_.sa_handler, std::memory_order_relaxed);
  ours = before_;
  ours.sa_handler = note_interrupt;
  if (sigaction(SIGINT, &ours, nullptr) != 0) return;
  watches_ = is_watching = true;
  invocation.watch(&interrupted);
}

void Interruptible::stop() {
  if (watches_ || is_inner_) invocation_->watch(nullptr);
  is_inner_ = false;
  if (!watches_) return;
  watches_ = is_watching = false;
  struct sigaction now {};
  const bool is_ours = sigaction(SIGINT, nullptr, &now) == 0 && now.sa_handler == note_interrupt;
  if (is_ours) sigaction(SIGINT, &before_, nullptr);  // A function of Python's may have set another one meanwhile.
}

void Interruptible::check(const Status& status) {
  was_brief_->store(vm::monotonic_clock_ns() - begin_ns_ < kBriefNs, std::memory_order_relaxed);
  if (!watches_ && !is_inner_) return;
  stop();
  if (status.ok() || !interrupted.load(std::memory_order_relaxed)) return;  // What ended meanwhile has its results.
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Interruptible::~Interruptible() { stop(); }

}  // namespace baton::python
