// CallPlace: the instruction of a program that calls the native function which runs now on this thread. Who records work that
// may end the process notes it, and a signal handler reads it (hal/drivers/local/kernel_crash.hpp).
//
// Whoever runs programs says it with the limits of its calls (WorkLimits::caller).
// Threads: current() is the calling thread's; a place is read by any, and name() in signal handlers, too: it neither
// allocates nor locks.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton {

struct CallPlace {
  struct Named {
    std::string_view module;
    std::string_view file;  // Empty where the program has no debug table.
    uint32_t line = 0;
    uint32_t column = 0;
  };
  // A module of a program, to whoever doesn't know what that is.
  struct Module {
    void (*retain)(const Module& module);
    void (*release)(const Module& module);
    Named (*name)(const Module& module, uint32_t word);
  };
  // What is asked where its thread is.
  struct Caller {
    CallPlace (*place)(const void* self) = nullptr;
    const void* self = nullptr;
  };

  const Module* module = nullptr;  // Null: no program calls. Borrowed.
  uint32_t word = 0;               // Of its code.

  Named name() const { return module->name(*module, word); }
  static CallPlace current();
};

}  // namespace baton
