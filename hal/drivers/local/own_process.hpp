// OwnProcess: tells the process that made it from one that was forked off it, where no other thread of it lives.
//
// It asks at every task, and getpid() is a call into the kernel: 80 to 100 ns of the 300 that handing a task over takes.
// So it reads a page instead, which Linux clears for the child of a fork (MADV_WIPEONFORK); where that can't be had, it
// asks the kernel. An emulator may take the wish and not fulfil it (qemu does), so it counts the calls of fork(), too.
// Threads: immutable.
#pragma once

#include <cstdint>

namespace baton::hal::drivers::local {

class OwnProcess {
 public:
  OwnProcess();
  ~OwnProcess();
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;

  // Whether the thread that asks is of the process that made this.
  bool is_here() const { return page_ ? *page_ != 0 && forks_before == forks_ : is_process(); }

 private:
  bool is_process() const;

  // How many calls of fork() lead from the first process that loaded this code to the one that asks.
  static volatile uint32_t forks_before;

  const int process_;
  const uint32_t forks_;
  const volatile char* page_ = nullptr;  // Volatile: fork() changes it. Null: ask the kernel.
};

}  // namespace baton::hal::drivers::local
