// HeardHere: what the validation layer says on this thread while it lives. It is about work that somebody else does, so
// it becomes that one's failure, and no listener hears it.
#pragma once

#include <string>
#include <string_view>

namespace baton::hal::drivers::vulkan {

class HeardHere {
 public:
  HeardHere() : outer_(current()) { current() = this; }
  ~HeardHere() { current() = outer_; }
  HeardHere(const HeardHere&) = delete;
  HeardHere& operator=(const HeardHere&) = delete;

  // What was said first; empty: nothing.
  const std::string& first() const { return first_; }

  // Whether somebody listens on this thread, who has it now.
  static bool take(std::string_view message) {
    HeardHere* const here = current();
    if (!here) return false;
    if (here->first_.empty()) here->first_ = message;
    return true;
  }

 private:
  static HeardHere*& current() {
    static thread_local HeardHere* here = nullptr;
    return here;
  }

  HeardHere* const outer_;
  std::string first_;
};

}  // namespace baton::hal::drivers::vulkan
