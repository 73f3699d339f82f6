// The walk along the flow: every register is defined before it is read, on every path.
//
// A state says which registers are defined; every label keeps the intersection of the states that reach it. The walk
// goes from the entry in code order, stops where control ends or runs into a label, and goes on at the next label
// behind it whose state has changed since it was last walked from; after the last one it begins again with the first.
// So a loop is walked again once for all the ways back to its head. States only ever lose registers, so this comes to
// rest; code without loops that lose registers (only calls do that) is walked once. Code that nothing reaches is not
// walked: nothing it reads can be undefined, since it never runs.
//
// Hostile input: time and memory are in proportion to the code. Walking an instruction, handling kWordsPerStep words of
// a state and making kNewWordsPerStep of them are a step each; a module has kStepsMin of them and kStepsPerWord for each word of its code, all its
// functions together, and what takes more is refused (DefinitionSteps). Compiled code takes 1.0 to 1.6 for a word.
// States reach as far as the registers that the code names, however large the frame is said to be.
#include <algorithm>
#include <bit>
#include <utility>

#include "bytecode/opcode.hpp"
#include "bytecode/verify_code.hpp"

namespace baton::bytecode {
namespace {

constexpr uint64_t kWordsPerStep = 8;
constexpr uint64_t kNewWordsPerStep = 2;  // New memory costs more: the kernel must bring its pages.
constexpr uint64_t kStepsMin = uint64_t{1} << 16;
constexpr uint64_t kStepsPerWord = 4;

constexpr uint64_t bits_below(uint64_t count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// The defined registers of a bank that has at most 64.
class NarrowBank {
 public:
  static constexpr bool kIsNarrow = true;
  static constexpr uint64_t kRegistersMax = 64;
  static constexpr uint64_t words_for(uint64_t) { return 1; }
  explicit NarrowBank(uint64_t) {}
  static NarrowBank full(DefinitionSteps&) {
    NarrowBank bank(0);
    bank.bits_ = ~uint64_t{0};
    return bank;
  }

  bool has(uint64_t index) const { return bits_ >> (index % 64) & 1; }
  bool has_all(uint64_t begin, uint64_t end) const { return (~bits_ & bits_below(end) & ~bits_below(begin)) == 0; }
  void add(uint64_t index) { bits_ |= uint64_t{1} << index; }
  void add_all(uint64_t begin, uint64_t end) { bits_ |= bits_below(end) & ~bits_below(begin); }
  void drop_from(uint64_t begin) { bits_ &= bits_below(begin); }

  // False, and nothing is done, when the instruction is not plain or reads what is not defined.
  bool step_plain(uint64_t word) {
    const InstructionShape& shape = instruction_shape(static_cast<uint16_t>(word));
    static_assert(static_cast<uint64_t>(Track::kNone) == 0 && static_cast<uint64_t>(Track::kValue) == 1);
    const uint64_t read = static_cast<uint64_t>(shape.reads[0]) << (word >> 16 & 63) |
                          static_cast<uint64_t>(shape.reads[1]) << (word >> 32 & 63) |
                          static_cast<uint64_t>(shape.reads[2]) << (word >> 48 & 63);
    if (!shape.is_plain || (read & ~bits_) != 0) return false;
    bits_ |= static_cast<uint64_t>(shape.writes) << (word >> 16 & 63);
    return true;
  }

  void load(const uint64_t* label) { bits_ = *label; }
  // Intersects what the label keeps with this; whether that took anything away.
  bool meet(uint64_t* label) const {
    const uint64_t before = *label;
    *label &= bits_;
    return *label != before;
  }

 private:
  uint64_t bits_ = 0;
};

// The same for any number.
class WideBank {
 public:
  static constexpr bool kIsNarrow = false;
  static constexpr uint64_t words_for(uint64_t registers) { return (registers + 63) / 64; }
  explicit WideBank(uint64_t registers) : own_(words_for(registers)), words_(own_) {}
  WideBank(const WideBank&) = delete;
  WideBank& operator=(const WideBank&) = delete;
  static WideBank full(DefinitionSteps& steps) { return WideBank(steps.all_registers()); }

  bool has(uint64_t index) const { return words_[index / 64] >> (index % 64) & 1; }
  bool has_all(uint64_t begin, uint64_t end) const {
    if (begin >= end) return true;  // May lie beyond what is named.
    uint64_t missing = 0;
    for (uint64_t word = begin / 64; word * 64 < end; ++word) missing |= ~words_[word] & range(begin, end, word);
    return missing == 0;
  }
  void add(uint64_t index) { words_[index / 64] |= uint64_t{1} << (index % 64); }
  void add_all(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    for (uint64_t word = begin / 64; word * 64 < end; ++word) words_[word] |= range(begin, end, word);
  }
  void drop_from(uint64_t begin) {
    for (uint64_t word = begin / 64; word < words_.size(); ++word) words_[word] &= ~range(begin, ~uint64_t{0}, word);
  }

  void load(const uint64_t* label) { std::copy_n(label, words_.size(), words_.begin()); }
  bool meet(uint64_t* label) const {
    uint64_t lost = 0;
    for (size_t word = 0; word < words_.size(); ++word) {
      lost |= label[word] & ~words_[word];
      label[word] &= words_[word];
    }
    return lost != 0;
  }

 private:
  // The bits of [begin, end) that stand in `word`.
  static uint64_t range(uint64_t begin, uint64_t end, uint64_t word) {
    const uint64_t first = word * 64;
    return bits_below(end > first ? end - first : 0) & ~bits_below(begin > first ? begin - first : 0);
  }

  explicit WideBank(std::span<uint64_t> words) : words_(words) {}

  std::vector<uint64_t> own_;
  std::span<uint64_t> words_;
};

}  // namespace

template <typename Bank>
class CodeVerifier::DefinitionWalk {
 public:
  explicit DefinitionWalk(CodeVerifier& verifier)
      : verifier_(verifier),
        code_(verifier.code_),
        banks_{Bank::full(verifier.steps_), Bank(verifier.named_.values), Bank(verifier.named_.refs)},
        value_words_(Bank::words_for(verifier.named_.values)),
        label_words_(1 + value_words_ + Bank::words_for(verifier.named_.refs)),
        state_steps_(label_words_ / kWordsPerStep) {}

  bool run();

 private:
  // The first word of a label's state.
  static constexpr uint64_t kUnreached = ~uint64_t{0};
  static constexpr uint64_t kSettled = 0;
  static constexpr uint64_t kWaiting = 1;

  bool prepare_labels();
  bool walk(size_t pc);
  size_t walk_plain(size_t pc);
  bool step_simple(size_t pc, const InstructionShape& shape);
  bool step(size_t pc);
  bool step_call(size_t pc, Opcode opcode);
  bool needs(size_t pc, const Bank& bank, uint64_t begin, uint64_t end);
  bool needs_lent(size_t pc, uint64_t lent_count);
  void arrive(size_t target);
  size_t next_waiting();
  uint64_t* label_state(size_t target) const;
  // Pays for work; once false, always false.
  bool spend(uint64_t steps) { return verifier_.steps_.spend(steps); }
  bool refuse_more_steps(size_t pc) { return verifier_.refuse_at(pc, Message::kTooManySteps, verifier_.steps_.most()); }

  Bank& values() { return banks_[static_cast<size_t>(Track::kValue)]; }
  Bank& refs() { return banks_[static_cast<size_t>(Track::kRef)]; }

  CodeVerifier& verifier_;
  const std::span<const uint64_t> code_;
  std::array<Bank, kTracks> banks_;  // by Track; that of kNone has every register, so that other operands pass
  const uint64_t value_words_;
  const uint64_t label_words_;
  const uint64_t state_steps_;  // of handling one state
  size_t at_ = 0;               // where the walk at hand began
  std::span<uint32_t> label_ranks_;
  std::span<uint64_t> label_states_;
  // Words of labels whose state changed, behind where the walk is and before it: heaps, the first on top.
  std::span<uint32_t> ahead_;
  std::span<uint32_t> behind_;
  size_t ahead_count_ = 0;
  size_t behind_count_ = 0;
};

DefinitionSteps::DefinitionSteps(uint64_t code_words) : most_(kStepsMin + kStepsPerWord * code_words), left_(most_) {}

bool CodeVerifier::check_definitions() {
  named_ = frame_;
  if (std::max(frame_.values, frame_.refs) > NarrowBank::kRegistersMax) named_ = named_registers();
  const bool narrow = kSpeedOverSize && std::max(named_.values, named_.refs) <= NarrowBank::kRegistersMax;
  return narrow ? DefinitionWalk<NarrowBank>(*this).run() : DefinitionWalk<WideBank>(*this).run();
}

// One more than the highest register of each bank that the code or the signature names. Calls name windows.
RegisterPair CodeVerifier::named_registers() const {
  RegisterPair named = {std::max<uint64_t>(shape_.argument_values, shape_.result_values),
                        std::max<uint64_t>(shape_.argument_refs, shape_.result_refs)};
  const auto name = [](uint64_t& end, uint64_t begin, uint64_t count) {
    if (count != 0) end = std::max(end, begin + count);
  };
  for (size_t pc = 0; pc < code_.size();) {
    const uint64_t* words = &code_[pc];
    const Opcode opcode = read_opcode(words);
    const InstructionInfo& row = info(opcode);
    for (size_t i = 0; i < row.operands().count; ++i) {
      const OperandKind kind = row.operands().operands[i].kind;
      if (is_value_register(kind)) name(named.values, read_operand(words, kind, row.operands().halves[i]), 1);
      if (is_ref_register(kind)) name(named.refs, read_operand(words, kind, row.operands().halves[i]), 1);
    }
    if (row.flags & kCalls) {
      const auto [base, arguments, results] = call_window(pc, opcode);
      name(named.values, base.values, std::max(arguments.values, results.values));
      name(named.refs, base.refs, std::max(arguments.refs, results.refs));
      if (opcode == Opcode::call_lend) named.refs = std::max(named.refs, base.refs);  // Lent ones lie below.
    }
    pc += instruction_words(words, row);
  }
  return named;
}

template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::run() {
  if (!spend(state_steps_)) return refuse_more_steps(0);
  values().add_all(0, verifier_.shape_.argument_values);
  refs().add_all(0, verifier_.shape_.argument_refs);
  if (verifier_.label_uses_ == 0) return walk(0);
  if (!prepare_labels()) return false;
  if (verifier_.labels_.has(0)) {
    arrive(0);
  } else if (!walk(0)) {
    return false;
  }
  while (ahead_count_ + behind_count_ != 0) {
    const size_t pc = next_waiting();
    at_ = pc;
    uint64_t* label = label_state(pc);
    label[0] = kSettled;
    values().load(label + 1);
    refs().load(label + 1 + value_words_);
    if (!walk(pc)) return false;
  }
  return true;
}

// Labels begin with every register defined, the state that intersecting starts from.
template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::prepare_labels() {
  const std::span<const uint64_t> bits = verifier_.labels_.bits();
  label_ranks_ = verifier_.label_ranks_.take(bits.size());
  uint32_t count = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    label_ranks_[i] = count;
    count += static_cast<uint32_t>(std::popcount(bits[i]));
  }
  const uint64_t words = count * label_words_;
  if (!spend(words / kNewWordsPerStep)) return refuse_more_steps(0);
  label_states_ = verifier_.label_states_.take(words, ~uint64_t{0});
  const std::span<uint32_t> waiting = verifier_.waiting_.take(2 * size_t{count});
  ahead_ = waiting.first(count);
  behind_ = waiting.last(count);
  return true;
}

// Follows the code from pc to where control ends or runs into a label.
template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::walk(size_t pc) {
  while (true) {
    if constexpr (Bank::kIsNarrow) {
      const size_t begin = std::exchange(pc, walk_plain(pc));
      if (pc != begin && verifier_.labels_.has(pc)) {
        arrive(pc);
        return true;
      }
    }
    const InstructionShape& shape = instruction_shape(static_cast<uint16_t>(code_[pc]));
    if (!spend(1)) [[unlikely]]
      return refuse_more_steps(pc);
    const bool is_short = shape.is_simple && step_simple(pc, shape);
    if (!is_short && !step(pc)) return false;
    if (shape.ends) return true;
    pc += is_short ? 1 : instruction_words(&code_[pc], info(read_opcode(&code_[pc])));
    if (verifier_.labels_.has(pc)) {
      arrive(pc);
      return true;
    }
  }
}

// Walks over plain instructions that read what is defined, as far as the next label; answers where it stopped. A function ends with another one.
template <typename Bank>
size_t CodeVerifier::DefinitionWalk<Bank>::walk_plain(size_t pc) {
  const size_t begin = pc;
  const size_t end = begin + verifier_.steps_.at_hand();
  Bank bank = values();
  size_t stop = 0;
  do {
    stop = std::min(end, verifier_.labels_.stretch_end(pc));
    while (pc < stop && bank.step_plain(code_[pc])) ++pc;
  } while (pc == stop && pc < end && !verifier_.labels_.has(pc));
  verifier_.steps_.spend_at_hand(pc - begin);
  values() = bank;
  return pc;
}

// The short way. When it answers false the long way finds out why.
template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::step_simple(size_t pc, const InstructionShape& shape) {
  const uint64_t word = code_[pc];
  bool defined = true;
  for (size_t half = 1; half <= 3; ++half) {
    defined &= banks_[static_cast<size_t>(shape.reads[half - 1])].has(word >> (16 * half) & 0xffff);
  }
  if (!defined) return false;
  banks_[static_cast<size_t>(shape.writes)].add(word >> 16 & 0xffff);
  if (shape.label_shift != 0) arrive(pc + static_cast<uint64_t>(static_cast<int64_t>(word) >> shape.label_shift));
  return true;
}

template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::step(size_t pc) {
  const uint64_t* words = &code_[pc];
  const Opcode opcode = read_opcode(words);
  const InstructionInfo& row = info(opcode);
  for (size_t i = 0; i < row.operands().count; ++i) {
    const OperandKind kind = row.operands().operands[i].kind;
    if (!detail::is_read(kind)) continue;
    const uint64_t index = read_operand(words, kind, row.operands().halves[i]);
    if (!needs(pc, is_ref_register(kind) ? refs() : values(), index, index + 1)) return false;
  }
  if (row.flags & kCalls) return step_call(pc, opcode);
  if (opcode == Opcode::ret) {
    return needs(pc, values(), 0, verifier_.shape_.result_values) && needs(pc, refs(), 0, verifier_.shape_.result_refs);
  }
  banks_[static_cast<size_t>(instruction_shape(static_cast<uint16_t>(opcode)).writes)].add(read_u16<1>(words));
  return all_labels(code_, pc, row, [&](int64_t target) {
    arrive(static_cast<size_t>(target));
    return true;
  });
}

// The callee's frame begins at the bases: what the caller had there is gone, and the results stand in its place.
template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::step_call(size_t pc, Opcode opcode) {
  const auto [base, arguments, results] = verifier_.call_window(pc, opcode);
  if (!spend(state_steps_)) return refuse_more_steps(pc);
  if (!needs(pc, values(), base.values, base.values + arguments.values)) return false;
  if (opcode == Opcode::call_lend) {
    if (!needs_lent(pc, arguments.refs)) return false;
  } else if (!needs(pc, refs(), base.refs, base.refs + arguments.refs)) {
    return false;
  }
  values().drop_from(base.values);
  refs().drop_from(base.refs);
  values().add_all(base.values, base.values + results.values);
  refs().add_all(base.refs, base.refs + results.refs);
  return true;
}

// The list ends with the registers.
template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::needs_lent(size_t pc, uint64_t lent_count) {
  const OperandList& operands = info(Opcode::call_lend).operands();
  const uint64_t count = read_operand(&code_[pc], OperandKind::kCount, operands.halves[3]);
  for (uint64_t i = count - lent_count; i < count; ++i) {
    const uint16_t lent = read_element(&code_[pc] + operands.words, i);
    if (lent != kNoRegister && !needs(pc, refs(), lent, lent + 1u)) return false;
  }
  return true;
}

template <typename Bank>
bool CodeVerifier::DefinitionWalk<Bank>::needs(size_t pc, const Bank& bank, uint64_t begin, uint64_t end) {
  if (bank.has_all(begin, end)) return true;
  while (bank.has(begin)) ++begin;
  return verifier_.refuse_at(pc, &bank == &values() ? Message::kUndefinedValue : Message::kUndefinedRef, begin);
}

// Control may go from here to the label at `target`.
template <typename Bank>
void CodeVerifier::DefinitionWalk<Bank>::arrive(size_t target) {
  spend(state_steps_);  // The next step finds out.
  uint64_t* label = label_state(target);
  const bool lost_values = values().meet(label + 1);
  const bool lost_refs = refs().meet(label + 1 + value_words_);
  if (label[0] == kWaiting || !(label[0] == kUnreached || lost_values || lost_refs)) return;
  label[0] = kWaiting;
  const bool is_ahead = target > at_;
  std::span<uint32_t> heap = is_ahead ? ahead_ : behind_;
  size_t& count = is_ahead ? ahead_count_ : behind_count_;
  heap[count++] = static_cast<uint32_t>(target);
  std::push_heap(heap.begin(), heap.begin() + static_cast<ptrdiff_t>(count), std::greater<>());
}

template <typename Bank>
size_t CodeVerifier::DefinitionWalk<Bank>::next_waiting() {
  if (ahead_count_ == 0) {
    std::swap(ahead_, behind_);
    std::swap(ahead_count_, behind_count_);
  }
  std::pop_heap(ahead_.begin(), ahead_.begin() + static_cast<ptrdiff_t>(ahead_count_), std::greater<>());
  return ahead_[--ahead_count_];
}

template <typename Bank>
uint64_t* CodeVerifier::DefinitionWalk<Bank>::label_state(size_t target) const {
  const uint64_t before = verifier_.labels_.bits()[target / 64] & bits_below(target % 64);
  const size_t rank = label_ranks_[target / 64] + static_cast<size_t>(std::popcount(before));
  return &label_states_[rank * label_words_];
}

}  // namespace baton::bytecode
