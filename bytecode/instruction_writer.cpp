#include "bytecode/instruction_writer.hpp"

#include <limits>

#include "base/check.hpp"
#include "bytecode/instruction_reader.hpp"

namespace baton::bytecode {
namespace {

constexpr size_t kCountMax = 0xffff;
constexpr uint32_t kBranchWords = 1;                 // a `br`
constexpr uint32_t kDetourWords = 2 * kBranchWords;  // what a fused branch to a far label needs beside itself

bool is_label(OperandKind kind) { return kind == OperandKind::kNearLabel || kind == OperandKind::kLabel; }

bool ends_with_list(const InstructionInfo& row) {
  return row.operands().count > 0 && is_list(row.operands().operands[row.operands().count - 1].kind);
}

bool fits_near(int64_t offset) {
  return offset >= std::numeric_limits<int16_t>::min() && offset <= std::numeric_limits<int16_t>::max();
}

// Whether the field keeps the number, read back as signed or as unsigned.
bool fits_field(uint64_t number, size_t halves) {
  if (halves == 4) return true;
  const size_t bits = 16 * halves;
  const auto as_signed = static_cast<int64_t>(number);
  return number >> bits == 0 || as_signed >> (bits - 1) == -1;
}

void put(uint64_t* words, size_t half, size_t halves, uint64_t number) {
  BATON_CHECK(fits_field(number, halves));
  const uint64_t mask = halves == 4 ? ~uint64_t{0} : (uint64_t{1} << (16 * halves)) - 1;
  words[half / 4] |= (number & mask) << (16 * (half % 4));
}

void put_branch(uint64_t* words, int64_t offset) {
  put(words, 0, 1, static_cast<uint64_t>(Opcode::br));
  put(words, info(Opcode::br).operands().halves[0], 2, static_cast<uint64_t>(offset));
}

}  // namespace

LabelId InstructionWriter::new_label() {
  labels_.push_back(kUnplaced);
  return static_cast<LabelId>(labels_.size() - 1);
}

void InstructionWriter::place(LabelId label) {
  BATON_CHECK(labels_[label] == kUnplaced);
  labels_[label] = instruction_count();
}

void InstructionWriter::emit(Opcode opcode, std::span<const uint64_t> operands, std::span<const uint64_t> list) {
  const InstructionInfo& row = info(opcode);
  const size_t implied = ends_with_list(row) ? 2 : 0;  // kCount and the list
  BATON_CHECK(operands.size() + implied == row.operands().count);
  BATON_CHECK(list.empty() || implied != 0);
  const auto begin = static_cast<uint32_t>(numbers_.size());
  numbers_.insert(numbers_.end(), operands.begin(), operands.end());
  const auto list_begin = static_cast<uint32_t>(numbers_.size());
  numbers_.insert(numbers_.end(), list.begin(), list.end());
  instructions_.push_back({opcode, begin, list_begin, static_cast<uint32_t>(list.size())});
}

// The word where each instruction starts, and the end. `far` says which fused branches make a detour.
std::vector<uint64_t> InstructionWriter::lay_out(const std::vector<bool>& far) const {
  std::vector<uint64_t> starts;
  starts.reserve(instructions_.size() + 1);
  uint64_t word = 0;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    starts.push_back(word);
    const InstructionInfo& row = info(instructions_[i].opcode);
    word += row.operands().words;
    if (ends_with_list(row)) {
      word += list_words(row.operands().operands[row.operands().count - 1].kind, instructions_[i].list_size);
    }
    if (far[i]) word += kDetourWords;
  }
  starts.push_back(word);
  return starts;
}

// Marks the fused branches whose target is out of reach in this layout; true when there were new ones. A detour makes
// the code longer and so may push other targets out of reach: the caller repeats until nothing changes. Marks are never
// taken back, so it ends.
bool InstructionWriter::mark_far(const std::vector<uint64_t>& starts, std::vector<bool>& far) const {
  bool changed = false;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const OperandList& operands = info(instructions_[i].opcode).operands();
    if (far[i] || operands.count == 0) continue;
    const size_t last = operands.count - 1u;  // A near label is always the last operand.
    if (operands.operands[last].kind != OperandKind::kNearLabel) continue;
    const uint64_t target = starts[labels_[numbers_[instructions_[i].operands_begin + last]]];
    if (fits_near(static_cast<int64_t>(target - starts[i]))) continue;
    far[i] = changed = true;
  }
  return changed;
}

Status InstructionWriter::check() const {
  for (const Instruction& instruction : instructions_) {
    const InstructionInfo& row = info(instruction.opcode);
    if (instruction.list_size > kCountMax) {
      return failure(StatusCode::kInvalidArgument, "The list of a '", row.mnemonic(), "' has ", instruction.list_size,
                     " elements (at most ", kCountMax, ").");
    }
    auto placed = [&](uint64_t label) { return labels_[label] != kUnplaced; };
    bool all_placed = true;
    size_t number = instruction.operands_begin;
    for (const Operand& operand : row.operands()) {
      if (operand.kind == OperandKind::kCount) continue;
      if (is_label(operand.kind)) all_placed &= placed(numbers_[number]);
      for (uint32_t i = 0; operand.kind == OperandKind::kLabels && i < instruction.list_size; ++i) {
        all_placed &= placed(numbers_[instruction.list_begin + i]);
      }
      ++number;
    }
    if (!all_placed)
      return failure(StatusCode::kInvalidArgument, "A label of a '", row.mnemonic(), "' is never placed.");
  }
  return {};
}

void InstructionWriter::encode(size_t index, bool far, const std::vector<uint32_t>& starts, uint64_t* words) const {
  const Instruction& instruction = instructions_[index];
  const InstructionInfo& row = info(instruction.opcode);
  const uint32_t here = starts[index];
  auto offset_to = [&](uint64_t label) { return static_cast<int64_t>(starts[labels_[label]]) - here; };
  put(words, 0, 1, static_cast<uint64_t>(instruction.opcode));
  size_t number = instruction.operands_begin;
  for (size_t i = 0; i < row.operands().count; ++i) {
    const OperandKind kind = row.operands().operands[i].kind;
    const size_t half = row.operands().halves[i];
    if (kind == OperandKind::kCount) {
      put(words, half, 1, instruction.list_size);
    } else if (is_list(kind)) {
      const size_t halves = kind == OperandKind::kLabels ? 2 : 1;
      for (uint32_t element = 0; element < instruction.list_size; ++element) {
        const uint64_t value = numbers_[instruction.list_begin + element];
        const uint64_t bits = halves == 2 ? static_cast<uint64_t>(offset_to(value)) : value;
        put(words, half + element * halves, halves, bits);
      }
    } else if (is_label(kind)) {
      const uint64_t label = numbers_[number++];
      const int64_t offset = far ? row.operands().words + kBranchWords : offset_to(label);
      put(words, half, operand_halves(kind), static_cast<uint64_t>(offset));
      if (!far) continue;
      put_branch(words + row.operands().words, kDetourWords);
      put_branch(words + offset, offset_to(label) - offset);
    } else {
      put(words, half, operand_halves(kind), numbers_[number++]);
    }
  }
}

Result<InstructionWriter::Code> InstructionWriter::finish() const {
  BATON_TRY(check());
  std::vector<bool> far(instructions_.size());
  std::vector<uint64_t> starts = lay_out(far);
  while (mark_far(starts, far)) starts = lay_out(far);
  if (starts.back() > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return failure(StatusCode::kResourceExhausted, "The function has ", starts.back(), " words (at most ",
                   std::numeric_limits<int32_t>::max(), ").");
  }
  Code code;
  code.starts.reserve(starts.size());
  for (uint64_t start : starts) code.starts.push_back(static_cast<uint32_t>(start));
  code.words.resize(starts.back());
  for (size_t i = 0; i < instructions_.size(); ++i) encode(i, far[i], code.starts, &code.words[code.starts[i]]);
  return code;
}

}  // namespace baton::bytecode
