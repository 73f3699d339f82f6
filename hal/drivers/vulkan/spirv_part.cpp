#include "hal/drivers/vulkan/spirv_part.hpp"

#include <map>
#include <set>

#include "hal/drivers/vulkan/spirv_operands.hpp"
#include "hal/spirv_words.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

enum class Makes : uint8_t { kNothing, kId, kTypedId, kUnknown };

// What an instruction inside a function makes: by the ranges in which the specification numbers them.
Makes made_by(uint32_t op) {
  constexpr uint32_t kSilent[] = {0, 8, 62, 63, 64, 224, 225, 228, 246, 247, 249, 250, 251, 252, 253, 254, 255, 317};
  constexpr struct {
    uint32_t first, last;
  } kTyped[] = {{1, 1},     {12, 12},   {54, 55},   {57, 57},   {59, 59},   {61, 61},   {65, 70},
                {77, 84},   {109, 117}, {120, 120}, {124, 124}, {126, 152}, {154, 191}, {194, 205},
                {227, 227}, {229, 242}, {245, 245}, {333, 366}, {400, 403}};
  if (op == kFunctionEnd) return Makes::kNothing;
  if (op == kLabel) return Makes::kId;
  for (const uint32_t each : kSilent) {
    if (op == each) return Makes::kNothing;
  }
  for (const auto& range : kTyped) {
    if (op >= range.first && op <= range.last) return Makes::kTypedId;
  }
  return Makes::kUnknown;
}

struct Body {
  std::set<uint32_t> made, named;  // Ids that it makes and those that it names.
};

// Into `named`: the ids of an instruction; all words of one that is not known, literals of it among them.
void add_named(const SpirvInstruction& one, std::set<uint32_t>& named) {
  const Result<SpirvOperands> operands =
      one.op == kSwitch ? failure(StatusCode::kUnimplemented, "What it looks at may have 64 bits.") : operands_of(one);
  if (!operands) {
    named.insert(one.words.begin() + 1, one.words.end());
    return;
  }
  for (const uint32_t word : operands->used) named.insert(one[word]);
}

class Module {
 public:
  // False: something is not known.
  bool read(std::span<const uint32_t> words) {
    bool known = true;
    Body* body = nullptr;
    const Status read = for_each_instruction(words, [&](const SpirvInstruction& one) -> Status {
      if (one.op == kGroupDecorate || one.op == kGroupMemberDecorate) known = false;
      if (one.op == kVariable && !body && one.size() > 2) variables_.insert(one[2]);
      if (one.op == kFunction && one.size() > 2) body = &bodies_[one[2]];
      if (!body) return {};
      const Makes makes = made_by(one.op);
      known = known && makes != Makes::kUnknown;
      if (makes == Makes::kId && one.size() > 1) body->made.insert(one[1]);
      if (makes == Makes::kTypedId && one.size() > 2) body->made.insert(one[2]);
      add_named(one, body->named);
      if (one.op == kFunctionEnd) body = nullptr;
      return {};
    });
    return read.ok() && known;
  }

  // Functions that `entry` does not reach, what they make, and variables that nothing names.
  void choose(uint32_t entry) {
    std::vector<uint32_t> open{entry};
    std::set<uint32_t> named;
    reached_.insert(entry);
    while (!open.empty()) {
      const Body& body = bodies_[open.back()];
      open.pop_back();
      named.insert(body.named.begin(), body.named.end());
      for (const uint32_t id : body.named) {
        if (bodies_.contains(id) && reached_.insert(id).second) open.push_back(id);
      }
    }
    for (const auto& [function, body] : bodies_) {
      if (!reached_.contains(function)) dropped_.insert(body.made.begin(), body.made.end());
    }
    for (const uint32_t variable : variables_) {
      if (!named.contains(variable)) dropped_.insert(variable);
    }
  }

  bool reaches(uint32_t function) const { return reached_.contains(function); }
  bool drops(uint32_t id) const { return dropped_.contains(id); }

 private:
  std::map<uint32_t, Body> bodies_;
  std::set<uint32_t> variables_, reached_, dropped_;
};

// The entry point with those of its variables that stay.
void append_entry_point(std::vector<uint32_t>& part, const SpirvInstruction& one, const Module& module) {
  size_t name_words = 0;
  const Result<std::string> name = read_string(one, 3, name_words);
  const size_t first = part.size(), fixed = 3 + name_words;
  for (size_t i = 0; i < one.size(); ++i) {
    if (i < fixed || !module.drops(one[i])) part.push_back(one[i]);
  }
  part[first] = static_cast<uint32_t>(part.size() - first) << 16 | kEntryPoint;
}

}  // namespace

std::vector<uint32_t> only_entry_point(std::span<const uint32_t> words, uint32_t function) {
  Module module;
  if (!module.read(words)) return {words.begin(), words.end()};
  module.choose(function);
  std::vector<uint32_t> part(words.begin(), words.begin() + kHeaderWords);
  bool skips = false;
  const Status copied = for_each_instruction(words, [&](const SpirvInstruction& one) -> Status {
    if (one.op == kFunction) skips = !module.reaches(one[2]);
    const bool is_inside = skips;
    if (one.op == kFunctionEnd) skips = false;
    if (is_inside) return {};
    switch (one.op) {
      case kEntryPoint:
        if (one[2] == function) append_entry_point(part, one, module);
        return {};
      case kExecutionMode:
      case kExecutionModeId:
        if (one[1] != function) return {};
        break;
      case kName:
      case kMemberName:
      case kDecorate:
      case kDecorateId:
      case kDecorateString:
        if (one.size() > 1 && module.drops(one[1])) return {};
        break;
      case kVariable:
        if (one.size() > 2 && module.drops(one[2])) return {};
        break;
      default: break;
    }
    part.insert(part.end(), one.words.begin(), one.words.end());
    return {};
  });
  if (!copied.ok()) return {words.begin(), words.end()};
  return part;
}

}  // namespace baton::hal::drivers::vulkan
