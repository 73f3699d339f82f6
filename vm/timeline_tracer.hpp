// TimelineTracer: the calls of a program as spans on a timeline: functions, and each import that they call, with the line
// of the program's source that calls it.
//
// It hears of every instruction (vm/tracer.hpp) and looks at those that call or return; a program that isn't traced
// doesn't know of it. While an import runs, Timeline::current_call() of this thread says which: what the
// import records is told by where it was called.
// Threads: one invocation at a time; each has its own.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/timeline.hpp"
#include "bytecode/opcode.hpp"
#include "vm/tracer.hpp"

namespace baton::vm {

class TimelineTracer final : public Tracer {
 public:
  explicit TimelineTracer(Timeline& timeline) : timeline_(timeline) {}
  ~TimelineTracer() override { finish(); }

  void instruction(const LinkedModule& module, const Function& function, uint32_t pc) override;
  // The call of the host is over, however it ended.
  void finish();

 private:
  // What an instruction makes of the frames.
  enum class Next : uint8_t { kStays, kEnters, kMayEnter, kReplaces, kLeaves };
  struct Open {
    const Timeline::Label* label;
    int64_t begin_ns;
  };
  static Next next_of(bytecode::Opcode opcode);
  void end_import(bool stepped_over, int64_t now_ns);
  void begin_import(const LinkedModule& module, const Function& function, uint32_t pc, int64_t now_ns);
  void end_span(const Open& open, int64_t now_ns, uint64_t flow);
  const Timeline::Label* function_label(const LinkedModule& module, const Function& function);
  const Timeline::Label* import_label(const LinkedModule& module, const Function& function, uint32_t pc);

  Timeline& timeline_;
  std::vector<Open> frames_;
  Open import_{};
  Timeline::Call call_{};
  Timeline::Call* around_ = nullptr;         // An import of another invocation that called this one.
  const uint64_t* behind_import_ = nullptr;  // Where control returns to from a native import.
  Next next_ = Next::kEnters;
  std::unordered_map<const void*, const Timeline::Label*> labels_;
};

}  // namespace baton::vm
