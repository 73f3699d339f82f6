// Progress: shows a person who waits at a terminal what takes so long; writes nothing anywhere else.
//
//   baton-run-module: load, 3 s
//
// One line that is drawn again each second and is gone when the work is done.
// Threads: externally synchronized; a thread of its own draws, and is not started where there is no terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace baton::tools {

class Progress {
 public:
  // Draws on `terminal` (a descriptor) when it is one, and work has taken longer than `patience`.
  Progress(std::string_view program, int terminal, std::chrono::milliseconds patience = std::chrono::seconds(1));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Ends the work before. Empty: nothing takes long from here on, the line is gone.
  void begin(std::string_view work);

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until_done();
  void draw(std::chrono::milliseconds taken) const;
  void erase() const;

  const std::string program_;
  const int terminal_;
  const std::chrono::milliseconds patience_;

  std::mutex mutex_;  // Guards what follows, and the line.
  std::condition_variable changed_;
  std::string work_;
  Clock::time_point begin_;
  bool is_drawn_ = false;
  bool is_done_ = false;
  std::thread drawer_;
};

}  // namespace baton::tools
