#include "hal/drivers/local/kernel_crash.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "hal/drivers/local/launch.hpp"
#include "hal/drivers/local/worker.hpp"

namespace baton::hal::drivers::local {

namespace {

// A sentence made without allocation or locks, as a signal handler must. What does not fit is left out.
class Sentence {
 public:
  Sentence& operator<<(std::string_view text) {
    const size_t taken = std::min(text.size(), sizeof bytes_ - size_);
    std::memcpy(bytes_ + size_, text.data(), taken);
    size_ += taken;
    return *this;
  }
  Sentence& operator<<(uint64_t number) { return digits(number, 10); }
  Sentence& address(uint64_t number) { return (*this << "0x").digits(number, 16); }

  void write_to_standard_error() const {
    for (size_t written = 0; written < size_;) {
      const ssize_t taken = ::write(STDERR_FILENO, bytes_ + written, size_ - written);
      if (taken <= 0) return;
      written += static_cast<size_t>(taken);
    }
  }

 private:
  Sentence& digits(uint64_t number, unsigned base) {
    char reversed[20];
    size_t count = 0;
    do {
      reversed[count++] = "0123456789abcdef"[number % base];
    } while ((number /= base) != 0);
    std::reverse(reversed, reversed + count);
    return *this << std::string_view(reversed, count);
  }

  char bytes_[1024];
  size_t size_ = 0;
};

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
struct sigaction previous[NSIG];  // Written once, before a handler is there to read it.

std::string_view signal_name(int signal) {
  if (signal == SIGSEGV) return "SIGSEGV";
  if (signal == SIGBUS) return "SIGBUS";
  return signal == SIGILL ? "SIGILL" : "SIGFPE";
}

// By kill() or raise(), and not made by an instruction.
bool was_sent(const siginfo_t& fault) { return fault.si_code <= 0; }

void tell_place(Sentence& sentence, const CallPlace* place) {
  if (!place) return;
  const CallPlace::Named named = place->name();
  sentence << ", recorded by module '" << named.module << "'";
  if (!named.file.empty()) {
    sentence << " at " << named.file << ":" << uint64_t{named.line} << ":" << uint64_t{named.column};
  }
  sentence << ",";
}

// The binding that the address lies nearest behind, or in.
void tell_binding(Sentence& sentence, const baton_dispatch_state& state, uint64_t address) {
  uint64_t nearest = UINT64_MAX;
  size_t binding = 0;
  for (size_t i = 0; i < state.binding_count; ++i) {
    const uint64_t begin = reinterpret_cast<uint64_t>(state.bindings[i]);
    if (address < begin || address - begin >= nearest) continue;
    nearest = address - begin;
    binding = i;
  }
  if (nearest == UINT64_MAX) return;
  sentence << ", byte " << nearest << " from the start of binding " << uint64_t{binding} << ", which has "
           << uint64_t{state.binding_lengths[binding]};
}

void tell(int signal, const siginfo_t& fault, const RunningKernel& running) {
  const Launch& launch = *running.launch;
  const baton_workgroup_state& workgroup = running.workgroup;
  Sentence sentence;
  sentence << "Kernel '" << launch.executable->entry_points()[launch.entry_point].name << "' of executable '"
           << launch.executable->name() << "'";
  tell_place(sentence, launch.place);
  sentence << " crashed in workgroup (" << uint64_t{workgroup.id_x} << ", " << uint64_t{workgroup.id_y} << ", "
           << uint64_t{workgroup.id_z} << ") with " << signal_name(signal);
  if (!was_sent(fault) && (signal == SIGSEGV || signal == SIGBUS)) {
    const auto address = reinterpret_cast<uint64_t>(fault.si_addr);
    sentence << " at address ";
    sentence.address(address);
    tell_binding(sentence, *running.state, address);
  }
  sentence << ".\n";
  sentence.write_to_standard_error();
}

// After this returns, the processor runs the instruction again, it faults again, and the handler that stood before this
// one gets the fault. A signal that another process sent is sent again.
void handle(int signal, siginfo_t* fault, void*) {
  Worker* const worker = Worker::of_this_thread;
  if (const RunningKernel* const running = worker ? std::exchange(worker->running, nullptr) : nullptr) {
    tell(signal, *fault, *running);
  }
  sigaction(signal, &previous[signal], nullptr);
  if (was_sent(*fault)) raise(signal);
}

}  // namespace

constinit std::atomic<bool> kernel_crashes_named{false};

void name_kernel_crashes() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal : kSignals) {
      sigaction(signal, nullptr, &previous[signal]);
      sigaction(signal, &action, nullptr);
    }
    kernel_crashes_named.store(true, std::memory_order_relaxed);
  });
}

}  // namespace baton::hal::drivers::local
