#include "hal/drivers/common/task.hpp"

#include <utility>

namespace baton::hal {
namespace {

class Turns {
 public:
  void run(Task& task) {
    (last_ ? last_->next : first_) = &task;
    last_ = &task;
    if (running_) return;
    running_ = true;
    while (first_) {
      Task* const now = std::exchange(first_, first_->next);
      if (!first_) last_ = nullptr;
      now->run();
    }
    running_ = false;
  }

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;
  bool running_ = false;
};

thread_local Turns turns;

}  // namespace

void run_in_turn(Task& task) { turns.run(task); }

}  // namespace baton::hal
