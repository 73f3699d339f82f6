#include "tools/support/progress.hpp"

#include <unistd.h>

#include "base/text.hpp"

namespace baton::tools {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";

void write_to(int terminal, std::string_view line) {
  if (::write(terminal, line.data(), line.size()) < 0) return;  // A terminal that is gone has no reader either.
}

}  // namespace

Progress::Progress(std::string_view program, int terminal, std::chrono::milliseconds patience)
    : program_(program), terminal_(terminal), patience_(patience) {
  if (isatty(terminal)) drawer_ = std::thread([this] { draw_until_done(); });
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  begin("");
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_one();
  drawer_.join();
}

void Progress::begin(std::string_view work) {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    if (is_drawn_) erase();
    is_drawn_ = false;
    work_ = work;
    begin_ = Clock::now();
  }
  changed_.notify_one();
}

void Progress::draw_until_done() {
  std::unique_lock lock(mutex_);
  while (!is_done_) {
    if (work_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Clock::time_point begin = begin_;
    const auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    if (taken >= patience_) {
      draw(taken);
      is_drawn_ = true;
    }
    changed_.wait_for(lock, taken < patience_ ? patience_ - taken : std::chrono::seconds(1));
  }
}

void Progress::draw(std::chrono::milliseconds taken) const {
  write_to(terminal_, text(kEraseLine, program_, ": ", work_, ", ", taken.count() / 1000, " s"));
}

void Progress::erase() const { write_to(terminal_, kEraseLine); }

}  // namespace baton::tools
