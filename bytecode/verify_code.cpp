// The walk in order: encoding, operands by kind, call windows, labels. One loop over the operand kinds of isa.inc; the
// few rules that one row alone obeys are named in check_rules().
#include "bytecode/verify_code.hpp"

#include <algorithm>

#include "bytecode/instruction_reader.hpp"
#include "bytecode/opcode.hpp"

namespace baton::bytecode {
namespace {

constexpr uint64_t kStatusCodeMax = 16;

[[gnu::cold]] Status not_finished(StatusCode reason, uint32_t function) {
  return failure(reason, "The module was verified up to function ", function,
                 reason == StatusCode::kCancelled ? ": that was cancelled." : ": the deadline has passed.");
}

}  // namespace

Status CodeVerifier::check(uint32_t function) {
  const format::FunctionRow& row = *module_.functions()->Get(function);
  function_ = function;
  code_ = facts_.code.subspan(row.code_begin(), row.code_size());
  frame_ = {row.value_registers(), row.ref_registers()};
  shape_ = facts_.signatures[row.signature()];
  label_uses_ = 0;
  insides_.reset(code_.size());
  labels_.reset(code_.size());
  if (steps_.look() && check_instructions() && check_label_places() && check_definitions()) return Status();
  if (steps_.interrupted() != StatusCode::kOk) return not_finished(steps_.interrupted(), function);
  return std::move(failure_);
}

bool CodeVerifier::note(size_t pc, Message message, std::span<const TextPiece> pieces) {
  const std::string_view name = view_.function_name(function_);
  std::string where = name.empty() ? text("function ", function_) : text("function '", name, "'");
  if (pc < code_.size()) {
    const InstructionInfo* row = find_info(static_cast<uint16_t>(code_[pc]));
    where += text(", word ", pc, " (", row ? row->mnemonic() : text("code ", hex(code_[pc] & 0xffff)), ")");
    // The debug table was checked with the others.
    const auto begin = static_cast<size_t>(code_.data() - facts_.code.data());
    if (const auto place = view_.location(static_cast<uint32_t>(begin + pc)))
      where += text(" at ", place->file, ":", place->line, ":", place->column);
  }
  failure_ = Status(StatusCode::kInvalidArgument, text(where, ": ", sentence(message, pieces)));
  return false;
}

bool CodeVerifier::check_instructions() {
  if (code_.empty()) return refuse_at(0, Message::kRunsPastEnd);
  size_t stretch_begin = 0;
  for (size_t pc = 0; pc < code_.size();) {
    if (kSpeedOverSize) pc = pass_plain(pc);
    const uint16_t code = static_cast<uint16_t>(code_[pc]);
    if (code >= kOpcodeLimit) return refuse_at(pc, Message::kUnknownOpcode);
    const InstructionShape& shape = instruction_shape(code);
    size_t words = 1;
    if (!shape.is_simple || !check_simple(pc, shape)) {
      words = check_words(pc);
      if (words == 0) return false;
    }
    if (pc + words == code_.size() && !shape.ends) return refuse_at(pc, Message::kRunsPastEnd);
    pc += words;
    if (shape.pays) {
      note_stretch(pc - stretch_begin);
      stretch_begin = pc;
    }
  }
  return true;
}

// Passes over plain instructions that break no rule; answers where something else stands, or the last word.
size_t CodeVerifier::pass_plain(size_t pc) const {
  const std::span<const uint64_t> code = code_;
  const uint64_t registers = frame_.values;
  for (const size_t last = code.size() - 1; pc < last; ++pc) {
    const uint64_t word = code[pc];
    if (static_cast<uint16_t>(word) >= kOpcodeLimit) break;
    const InstructionShape& shape = instruction_shape(static_cast<uint16_t>(word));
    if (!shape.is_plain || ((word & shape.unused[0]) | halves_beyond(word, shape.value_halves, registers)) != 0) break;
  }
  return pc;
}

// A return clears the frame's references, two in the time of an addition; one that is lent costs as much as four.
void CodeVerifier::note_stretch(uint64_t words) {
  longest_stretch_ = std::max(longest_stretch_, words + frame_.refs / 2);
}

// The short way. When it answers false the long way finds out why.
bool CodeVerifier::check_simple(size_t pc, const InstructionShape& shape) {
  const uint64_t word = code_[pc];
  uint64_t faults = (word & shape.unused[0]) | halves_beyond(word, shape.value_halves, frame_.values);
  if (shape.ref_halves != 0) faults |= halves_beyond(word, shape.ref_halves, frame_.refs);
  if (faults != 0) return false;
  if (shape.label_shift == 0) return true;
  const uint64_t target = pc + static_cast<uint64_t>(static_cast<int64_t>(word) >> shape.label_shift);
  if (target >= code_.size()) return false;
  labels_.add(target);
  ++label_uses_;
  return true;
}

// The long way, over the row: how many words the instruction has, or 0 after refuse_at().
size_t CodeVerifier::check_words(size_t pc) {
  const InstructionInfo* row = find_info(static_cast<uint16_t>(code_[pc]));
  if (!row) return refuse_at(pc, Message::kUnknownOpcode);
  const size_t left = code_.size() - pc;
  const size_t words = row->operands().words <= left ? instruction_words(&code_[pc], *row) : row->operands().words;
  if (words > left) return refuse_at(pc, Message::kInstructionOutside, words, code_.size());
  for (size_t word = 1; word < words; ++word) insides_.add(pc + word);
  return check_operands(pc, *row) ? words : 0;
}

bool CodeVerifier::check_operands(size_t pc, const InstructionInfo& row) {
  const auto opcode = read_opcode(&code_[pc]);
  const InstructionShape& shape = instruction_shape(static_cast<uint16_t>(opcode));
  for (size_t word = 0; word < row.operands().words; ++word) {
    const uint64_t bits = code_[pc + word] & shape.unused[word];
    if (bits != 0) return refuse_at(pc, Message::kUnusedBits, word, hex(bits));
  }
  for (size_t i = 0; i < row.operands().count; ++i) {
    const OperandKind kind = row.operands().operands[i].kind;
    if (is_list(kind)) {
      if (!check_list(pc, row)) return false;
    } else if (!check_operand(pc, kind, read_operand(&code_[pc], kind, row.operands().halves[i]))) {
      return false;
    }
  }
  return all_labels(code_, pc, row, [&](int64_t target) { return check_label(pc, target); }) && check_rules(pc, opcode);
}

bool CodeVerifier::check_operand(size_t pc, OperandKind kind, uint64_t operand) {
  const auto below = [&](const char* what, uint64_t limit) {
    return operand < limit || refuse_at(pc, Message::kOperandBeyond, what, operand, limit);
  };
  switch (kind) {
    case OperandKind::kDef:
    case OperandKind::kUse:
    case OperandKind::kUpdate:
      return operand < frame_.values || refuse_at(pc, Message::kValueRegister, operand, frame_.values);
    case OperandKind::kDefRef:
    case OperandKind::kUseRef:
    case OperandKind::kTakeRef:
      return operand < frame_.refs || refuse_at(pc, Message::kRefRegister, operand, frame_.refs);
    case OperandKind::kCallee: return below("function", facts_.function_count);
    case OperandKind::kImport: return below("import", facts_.import_count);
    case OperandKind::kGlobal: return below("global", facts_.global_count) && check_global(pc, operand, false);
    case OperandKind::kGlobalRef: return below("global", facts_.global_count) && check_global(pc, operand, true);
    case OperandKind::kRodata: return below("rodata", facts_.rodata_count);
    case OperandKind::kExecutable: return below("executable", facts_.executable_count);
    case OperandKind::kType: return below("type", facts_.type_count);
    case OperandKind::kCode:
      return (operand > 0 && operand <= kStatusCodeMax) || refuse_at(pc, Message::kStatusCode, operand);
    case OperandKind::kValueBase:  // check_window()
    case OperandKind::kRefBase:
    case OperandKind::kCount:  // check_list() and check_import_kind()
    case OperandKind::kSegments:
    case OperandKind::kLent:       // check_lent()
    case OperandKind::kNearLabel:  // check_label()
    case OperandKind::kLabel:
    case OperandKind::kLabels:
    case OperandKind::kImm16:  // Any bits are a constant.
    case OperandKind::kImmI32:
    case OperandKind::kImmF32:
    case OperandKind::kImmI64:
    case OperandKind::kImmF64: return true;
  }
  return true;
}

bool CodeVerifier::check_global(size_t pc, uint64_t index, bool needs_ref) {
  const format::GlobalRow& row = *module_.globals()->Get(static_cast<uint32_t>(index));
  const auto type = static_cast<ValueType>(row.type());
  if (is_ref(type) != needs_ref) return refuse_at(pc, Message::kGlobalBank, index, value_type_name(type));
  const Opcode opcode = read_opcode(&code_[pc]);
  const bool writes = opcode == Opcode::global_set || opcode == Opcode::global_set_ref;
  return !writes || row.mutable_() || refuse_at(pc, Message::kConstantGlobal, index);
}

// Checks that the label lies in the function. Whether an instruction starts there is checked after the walk.
bool CodeVerifier::check_label(size_t pc, int64_t target) {
  if (target < 0 || target >= static_cast<int64_t>(code_.size())) {
    return refuse_at(pc, Message::kLabelOutside, target, code_.size());
  }
  labels_.add(static_cast<size_t>(target));
  ++label_uses_;
  return true;
}

// The list that ends a row: its elements, and zeros in the rest of its last word.
bool CodeVerifier::check_list(size_t pc, const InstructionInfo& row) {
  const size_t last = row.operands().count - 1u;
  const OperandKind kind = row.operands().operands[last].kind;
  const size_t count = read_operand(&code_[pc], OperandKind::kCount, row.operands().halves[last - 1]);
  const uint64_t* list = &code_[pc] + row.operands().words;
  const size_t elements_in_word = kind == OperandKind::kLabels ? 2 : 4;
  const size_t used = count % elements_in_word;
  if (used != 0) {
    const size_t word = count / elements_in_word;
    const uint64_t bits = list[word] >> (64 / elements_in_word * used);
    if (bits != 0) return refuse_at(pc, Message::kUnusedBits, row.operands().words + word, hex(bits));
  }
  return kind != OperandKind::kLabels || count != 0 || refuse_at(pc, Message::kNoLabels);
}

// What a row must obey beyond its operand kinds.
bool CodeVerifier::check_rules(size_t pc, Opcode opcode) {
  switch (opcode) {
    case Opcode::call: return check_window(pc, opcode);
    case Opcode::call_import:
    case Opcode::call_variadic: return check_import_kind(pc, opcode) && check_window(pc, opcode);
    case Opcode::call_lend: return check_lent(pc) && check_window(pc, opcode);
    case Opcode::call_tail: return check_tail_call(pc) && check_window(pc, opcode);
    case Opcode::ret_value:
      return (shape_.result_values == 1 && shape_.result_refs == 0) ||
             refuse_at(pc, Message::kReturnValue, view_.function(function_).signature);
    default: return true;
  }
}

bool CodeVerifier::check_import_kind(size_t pc, Opcode opcode) {
  const uint16_t index = read_u16<1>(&code_[pc]);
  const format::ImportRow& row = *module_.imports()->Get(index);
  const SignatureShape& shape = facts_.signatures[row.signature()];
  if (opcode == Opcode::call_import) {
    return shape.segments == 0 || refuse_at(pc, Message::kVariadicImport, index, row.name()->c_str());
  }
  if (shape.segments == 0) return refuse_at(pc, Message::kFixedImport, index, row.name()->c_str());
  const InstructionInfo& info_row = info(opcode);
  const uint64_t count = read_operand(&code_[pc], OperandKind::kCount, info_row.operands().halves[3]);
  return count == shape.segments ||
         refuse_at(pc, Message::kSegmentCount, count, index, row.name()->c_str(), shape.segments);
}

// A call that lends says how long its segments are, then where each reference is: below the callee's frame, which may
// do with its own as it likes.
bool CodeVerifier::check_lent(size_t pc) {
  const uint64_t* words = &code_[pc];
  const uint16_t index = read_u16<1>(words);
  const format::ImportRow& row = *module_.imports()->Get(index);
  const SignatureShape& shape = facts_.signatures[row.signature()];
  const OperandList& operands = info(Opcode::call_lend).operands();
  const uint64_t count = read_operand(words, OperandKind::kCount, operands.halves[3]);
  if (count < shape.segments) {
    return refuse_at(pc, Message::kSegmentCount, count, index, row.name()->c_str(), shape.segments);
  }
  note_stretch(4 * count);
  const CallWindow window = call_window(pc, Opcode::call_lend);
  if (count - shape.segments != window.arguments.refs) {
    return refuse_at(pc, Message::kLentCount, count - shape.segments, index, row.name()->c_str(),
                     window.arguments.refs);
  }
  for (size_t i = shape.segments; i < count; ++i) {
    const uint16_t lent = read_element(words + operands.words, i);
    if (lent != kNoRegister && lent >= window.base.refs) {
      return refuse_at(pc, Message::kLentRegister, lent, window.base.refs);
    }
  }
  return true;
}

bool CodeVerifier::check_tail_call(size_t pc) {
  const uint32_t callee = module_.functions()->Get(read_u16<1>(&code_[pc]))->signature();
  const uint32_t caller = module_.functions()->Get(function_)->signature();
  if (callee == caller) return true;
  const std::string_view callee_text = view_.signature(callee);
  const std::string_view caller_text = view_.signature(caller);
  return results_of(callee_text) == results_of(caller_text) ||
         refuse_at(pc, Message::kTailResults, callee_text, results_of(caller_text));
}

// Arguments and results lie inside the caller's frame; beyond them the callee's frame does as it likes.
bool CodeVerifier::check_window(size_t pc, Opcode opcode) {
  const CallWindow window = call_window(pc, opcode);
  const auto inside = [&](const char* what, uint64_t base, uint64_t count, uint64_t frame) {
    return base + count <= frame || refuse_at(pc, Message::kWindow, what, base, base + count, frame);
  };
  return inside("value arguments", window.base.values, window.arguments.values, frame_.values) &&
         inside("value results", window.base.values, window.results.values, frame_.values) &&
         inside("reference arguments", window.base.refs, window.arguments.refs, frame_.refs) &&
         inside("reference results", window.base.refs, window.results.refs, frame_.refs);
}

// At most 65535 segments of 65535 elements of fewer than 2^31 registers each: no sum here overflows 64 bits.
CallWindow CodeVerifier::call_window(size_t pc, Opcode opcode) const {
  const uint64_t* words = &code_[pc];
  const uint32_t target = read_u16<1>(words);
  const bool is_import =
      opcode == Opcode::call_import || opcode == Opcode::call_variadic || opcode == Opcode::call_lend;
  const uint32_t signature =
      is_import ? module_.imports()->Get(target)->signature() : module_.functions()->Get(target)->signature();
  const SignatureShape& shape = facts_.signatures[signature];
  CallWindow window{
      .base = {},
      .arguments = {shape.argument_values, shape.argument_refs},
      .results = {shape.result_values, shape.result_refs},
  };
  if (opcode != Opcode::call_tail) window.base = {read_u16<2>(words), read_u16<3>(words)};
  if (shape.segments != 0) {  // No function has any, and no import of a plain call; the tables may be empty.
    const uint64_t* list = words + info(opcode).operands().words;
    const SegmentShape* segments = &facts_.segments[facts_.segments_begin[signature]];
    for (size_t i = 0; i < shape.segments; ++i) {
      window.arguments.values += uint64_t{read_element(list, i)} * segments[i].values;
      window.arguments.refs += uint64_t{read_element(list, i)} * segments[i].refs;
    }
  }
  return window;
}

// Beyond this point every label is the start of an instruction of this function.
bool CodeVerifier::check_label_places() {
  if (label_uses_ == 0) return true;
  uint64_t stray = 0;
  for (size_t i = 0; i < labels_.bits().size(); ++i) stray |= labels_.bits()[i] & insides_.bits()[i];
  if (stray == 0) return true;
  for (size_t pc = 0; pc < code_.size();) {
    const InstructionInfo& row = info(read_opcode(&code_[pc]));
    const bool fits = all_labels(code_, pc, row, [&](int64_t target) {
      return !insides_.has(static_cast<size_t>(target)) || refuse_at(pc, Message::kLabelInside, target);
    });
    if (!fits) return false;
    pc += instruction_words(&code_[pc], row);
  }
  return false;
}

}  // namespace baton::bytecode
