// The verifier's second half: the code of one function after the other. Private to this room.
//
// Two walks. The first (verify_code.cpp) takes the words in order and proves all that needs no knowledge of the flow:
// encoding, operands by kind, call windows, labels. The second (verify_definitions.cpp) follows the flow and proves
// that every register is defined before it is read. It may decode without a check.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/work_limits.hpp"
#include "bytecode/instruction_info.hpp"
#include "bytecode/instruction_reader.hpp"
#include "bytecode/instruction_shape.hpp"
#include "bytecode/module_verifier.hpp"
#include "bytecode/scratch.hpp"

namespace baton::bytecode {

// Loops over plain instructions alone, and over frames of few registers: 3 KB more, and a third of the time less.
#ifdef __OPTIMIZE_SIZE__
inline constexpr bool kSpeedOverSize = false;
#else
inline constexpr bool kSpeedOverSize = true;
#endif

// Registers of both banks, or counts of them.
struct RegisterPair {
  uint64_t values = 0;
  uint64_t refs = 0;
};

// Where a call's window begins in the caller's frame, and what the call takes and leaves there.
struct CallWindow {
  RegisterPair base;
  RegisterPair arguments;
  RegisterPair results;
};

// What following definitions may cost: one account for all functions of a module, so that time stays in proportion to
// the file however its code is cut up.
class DefinitionSteps {
 public:
  explicit DefinitionSteps(uint64_t code_words);

  bool spend(uint64_t steps) {
    if (steps < left_) [[likely]] {
      left_ -= steps;
      return true;
    }
    return spend_rest(steps);
  }
  // So many can be spent one by one without asking.
  uint64_t at_hand() const { return left_; }
  void spend_at_hand(uint64_t steps) { left_ -= steps; }
  // False, from then on always: whoever wants the module proved does not want it any longer (WorkLimits of the thread).
  bool look() { return !limits_ || look_at_clock(); }
  StatusCode interrupted() const { return interrupted_; }
  // A bit for each register that an operand can name, all set: made once for a module.
  std::span<uint64_t> all_registers() {
    if (all_registers_.empty()) all_registers_.assign(0x10000 / 64, ~uint64_t{0});
    return all_registers_;
  }
  uint64_t most() const { return most_; }
  uint64_t spent() const { return most_ - left_ - rest_; }

 private:
  [[gnu::noinline]] bool spend_rest(uint64_t steps) {
    const uint64_t all = left_ + rest_;
    const bool enough = steps <= all;
    left_ = enough ? all - steps : 0;
    rest_ = 0;
    return look() && enough;
  }
  bool look_at_clock() {
    constexpr uint64_t kStepsBetweenLooks = uint64_t{1} << 16;  // Some 0.3 ms.
    if (interrupted_ == StatusCode::kOk) interrupted_ = limits_->look();
    const uint64_t all = interrupted_ == StatusCode::kOk ? left_ + rest_ : 0;
    left_ = all < kStepsBetweenLooks ? all : kStepsBetweenLooks;
    rest_ = all - left_;
    return interrupted_ == StatusCode::kOk;
  }

  uint64_t most_;
  uint64_t left_;      // Until the next look at the clock.
  uint64_t rest_ = 0;  // After it.
  const WorkLimits* const limits_ = WorkLimits::current();
  StatusCode interrupted_ = StatusCode::kOk;
  std::vector<uint64_t> all_registers_;  // Empty until asked for.
};

// Calls visit(word) for each label of the instruction at `pc` until one answers false; says whether none did.
template <typename Visit>
bool all_labels(std::span<const uint64_t> code, size_t pc, const InstructionInfo& row, Visit visit) {
  if (row.operands().count == 0) return true;
  const size_t last = row.operands().count - 1u;
  const size_t half = row.operands().halves[last];
  const uint64_t* words = &code[pc];
  const auto at = [&](int64_t offset) { return visit(static_cast<int64_t>(pc) + offset); };
  switch (row.operands().operands[last].kind) {
    case OperandKind::kNearLabel: return at(static_cast<int16_t>(read_operand(words, OperandKind::kNearLabel, half)));
    case OperandKind::kLabel: return at(static_cast<int32_t>(read_operand(words, OperandKind::kLabel, half)));
    case OperandKind::kLabels: {
      const size_t count = read_operand(words, OperandKind::kCount, row.operands().halves[last - 1]);
      for (size_t i = 0; i < count; ++i) {
        if (!at(read_label(words + row.operands().words, i))) return false;
      }
      return true;
    }
    default: return true;
  }
}

class CodeVerifier {
 public:
  CodeVerifier(ModuleView view, const format::Module& module, const ModuleFacts& facts)
      : view_(view), module_(module), facts_(facts), steps_(facts.code.size()) {}

  Status check(uint32_t function);
  // See ModuleView::longest_stretch(); of the functions checked so far.
  uint64_t longest_stretch() const { return longest_stretch_; }
  uint64_t steps() const { return steps_.spent(); }

 private:
  // The checks below answer false after refuse_at() has noted why.

  // verify_code.cpp
  bool check_instructions();
  size_t pass_plain(size_t pc) const;
  bool check_simple(size_t pc, const InstructionShape& shape);
  size_t check_words(size_t pc);
  bool check_operands(size_t pc, const InstructionInfo& row);
  bool check_operand(size_t pc, OperandKind kind, uint64_t operand);
  bool check_list(size_t pc, const InstructionInfo& row);
  bool check_rules(size_t pc, Opcode opcode);
  bool check_window(size_t pc, Opcode opcode);
  bool check_import_kind(size_t pc, Opcode opcode);
  bool check_lent(size_t pc);
  bool check_tail_call(size_t pc);
  bool check_label(size_t pc, int64_t target);
  bool check_global(size_t pc, uint64_t index, bool needs_ref);
  bool check_label_places();
  void note_stretch(uint64_t words);
  CallWindow call_window(size_t pc, Opcode opcode) const;

  // verify_definitions.cpp
  bool check_definitions();
  RegisterPair named_registers() const;
  template <typename State>
  class DefinitionWalk;

  // "function 'sum', word 3 (add.i32): " and the sentence. Always false.
  bool refuse_at(size_t pc, Message message) { return note(pc, message, {}); }
  template <typename... Parts>
  [[gnu::always_inline]] bool refuse_at(size_t pc, Message message, const Parts&... parts) {
    const TextPiece pieces[] = {parts...};
    return note(pc, message, pieces);
  }
  [[gnu::cold, gnu::noinline]] bool note(size_t pc, Message message, std::span<const TextPiece> pieces);

  const ModuleView view_;
  const format::Module& module_;
  const ModuleFacts& facts_;

  // The function at hand.
  uint32_t function_ = 0;
  std::span<const uint64_t> code_;
  RegisterPair frame_;
  RegisterPair named_;  // The registers of the frame that states speak of.
  SignatureShape shape_;
  uint64_t label_uses_ = 0;  // operands that are labels

  uint64_t longest_stretch_ = 0;
  DefinitionSteps steps_;

  // Storage that functions take turns to use.
  WordSet insides_;  // words of instructions but their first
  WordSet labels_;
  Scratch<uint32_t, 4> label_ranks_;    // labels before each 64 words of code
  Scratch<uint64_t, 48> label_states_;  // verify_definitions.cpp
  Scratch<uint32_t, 16> waiting_;       // the same

  Status failure_;
};

}  // namespace baton::bytecode
