#include "hal/drivers/vulkan/spirv_operands.hpp"

#include <algorithm>
#include <string_view>

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

// The operands of an instruction, one letter for each word after the opcode: t the result's type, r the result, i an
// id, l a literal. A last letter I or L stands for all words that follow; m stands for memory operands: a mask, then
// the words that it asks for.
struct Form {
  uint32_t first, last;  // Opcodes.
  std::string_view words;
};

// In the order of the specification's numbers.
constexpr Form kForms[] = {
    {1, 1, "tr"},                               // OpUndef
    {12, 12, "trilI"},                          // OpExtInst
    {19, 20, "r"},                              // void, bool
    {21, 22, "rL"},                             // integers, floats
    {23, 24, "ril"},                            // vectors, matrices
    {28, 28, "rii"},                            // arrays
    {29, 29, "ri"},                             // arrays without end
    {30, 30, "rI"},                             // structs
    {32, 32, "rli"},                            // pointers
    {33, 33, "rI"},                             // functions' types
    {39, 39, "il"},                             // OpTypeForwardPointer
    {41, 42, "tr"},         {43, 43, "trL"},    // constants
    {44, 44, "trI"},        {46, 46, "tr"},     // the same
    {48, 49, "tr"},         {50, 50, "trL"},    // with specialization
    {51, 51, "trI"},                            // the same
    {54, 54, "trli"},       {55, 55, "tr"},     // functions
    {56, 56, ""},           {57, 57, "triI"},   // their end, calls
    {59, 59, "trlI"},                           // OpVariable
    {61, 61, "trim"},                           // OpLoad
    {62, 62, "iim"},                            // OpStore
    {63, 63, "iim"},                            // OpCopyMemory
    {65, 67, "triI"},                           // chains of accesses
    {68, 68, "tril"},                           // OpArrayLength
    {70, 70, "triI"},                           // a chain
    {77, 78, "triI"},                           // vectors by a value's index
    {79, 79, "triiL"},                          // OpVectorShuffle
    {80, 80, "trI"},                            // OpCompositeConstruct
    {81, 81, "triL"},                           // OpCompositeExtract
    {82, 82, "triiL"},                          // OpCompositeInsert
    {83, 84, "tri"},                            // OpCopyObject, OpTranspose
    {109, 117, "trI"},      {120, 120, "trI"},  // conversions
    {124, 124, "trI"},      {126, 152, "trI"},  // the same, arithmetic
    {154, 191, "trI"},      {194, 205, "trI"},  // comparisons, bits
    {225, 225, "ii"},                           // OpMemoryBarrier
    {227, 227, "trI"},      {228, 228, "iI"},   // atomics
    {229, 242, "trI"},                          // the same
    {245, 245, "trI"},                          // OpPhi
    {246, 246, "iiL"},      {247, 247, "il"},   // merges
    {248, 248, "r"},        {249, 249, "i"},    // labels, branches
    {250, 250, "iiiL"},                         // OpBranchConditional
    {252, 253, ""},         {254, 254, "i"},    // ends of blocks
    {255, 255, ""},                             // OpUnreachable
    {333, 341, "trI"},                          // of subgroups
    {342, 342, "trilI"},                        // the same
    {343, 348, "trI"},                          // the same
    {349, 364, "trilI"},                        // the same
    {365, 366, "trI"},                          // the same
    {400, 403, "trI"},                          // OpCopyLogical, pointers compared
    {4450, 4452, "triiL"},                      // dot products of integers
    {4453, 4455, "triiiL"},                     // the same, added up
    {6035, 6035, "trI"},                        // OpAtomicFAddEXT
};

class Walk {
 public:
  explicit Walk(const SpirvInstruction& one) : one_(one) {}

  Result<SpirvOperands> all(std::string_view form) {
    for (const char each : form) BATON_TRY(take(each));
    if (next_ != one_.size()) return bad_spirv(one_.at, text("instruction ", one_.op, " has too many words"));
    return std::move(found_);
  }

  Result<SpirvOperands> of_switch(uint32_t selector_words) {
    BATON_TRY(take('i'));
    BATON_TRY(take('i'));
    while (next_ < one_.size()) {
      for (uint32_t i = 0; i < selector_words; ++i) BATON_TRY(take('l'));
      BATON_TRY(take('i'));
    }
    return std::move(found_);
  }

 private:
  Status take(char what) {
    if (what == 'I' || what == 'L') {
      for (; next_ < one_.size(); ++next_) {
        if (what == 'I') found_.used.push_back(next_);
      }
      return {};
    }
    if (what == 'm') return take_memory();
    if (next_ >= one_.size()) return bad_spirv(one_.at, text("instruction ", one_.op, " lacks words"));
    if (what == 't') found_.type = next_;
    if (what == 'r') found_.result = next_;
    if (what == 'i') found_.used.push_back(next_);
    ++next_;
    return {};
  }

  // One mask or two; an alignment is a literal, scopes are ids.
  Status take_memory() {
    constexpr uint32_t kAligned = 2, kAvailable = 8, kVisible = 16, kKnown = 63;
    while (next_ < one_.size()) {
      const uint32_t mask = one_[next_++];
      if ((mask & ~kKnown) != 0) {
        return failure(StatusCode::kUnimplemented, "Memory operands of ", mask, " are not known.");
      }
      if (mask & kAligned) BATON_TRY(take('l'));
      if (mask & kAvailable) BATON_TRY(take('i'));
      if (mask & kVisible) BATON_TRY(take('i'));
    }
    return {};
  }

  const SpirvInstruction& one_;
  uint32_t next_ = 1;
  SpirvOperands found_;
};

}  // namespace

Result<SpirvOperands> operands_of(const SpirvInstruction& one, uint32_t selector_words) {
  if (one.op == kSwitch) return Walk(one).of_switch(selector_words);
  const auto form = std::find_if(std::begin(kForms), std::end(kForms),
                                 [&](const Form& each) { return each.first <= one.op && one.op <= each.last; });
  if (form == std::end(kForms)) {
    return failure(StatusCode::kUnimplemented, "Instruction ", one.op, " of SPIR-V is not known here.");
  }
  return Walk(one).all(form->words);
}

}  // namespace baton::hal::drivers::vulkan
