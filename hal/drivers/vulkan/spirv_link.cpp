#include "hal/drivers/vulkan/spirv_link.hpp"

#include <algorithm>
#include <string_view>

#include "hal/drivers/vulkan/spirv_module.hpp"
#include "hal/drivers/vulkan/spirv_operands.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

constexpr uint32_t kLogicalAddressing = 0, kPhysicalAddressing = 5348, kVulkanModel = 3;
constexpr uint32_t kVersion14 = 0x00010400;
constexpr std::string_view kGlslSet = "GLSL.std.450";

// A module has one of each, told by the opcode and the operands.
bool is_unique(uint32_t op) { return (op >= kTypeVoid && op <= kTypeMatrix) || op == kTypeFunction; }

bool is_type(uint32_t op) { return op >= kTypeVoid && op <= kTypeFunction; }

void append_text(std::vector<uint32_t>& operands, std::string_view name) {
  const size_t first = operands.size();
  operands.resize(first + name.size() / 4 + 1, 0);
  std::memcpy(operands.data() + first, name.data(), name.size());
}

}  // namespace

void SpirvLink::append(Words& words, uint32_t op, std::span<const uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  words.insert(words.end(), operands.begin(), operands.end());
}

// ---- The kernels ----------------------------------------------------------------------------------------------------

Status SpirvLink::begin(std::span<const uint32_t> kernels) {
  version_ = kernels[1];
  bound_ = kernels[3];
  BATON_TRY(for_each_instruction(kernels, [&](const SpirvInstruction& one) { return read(one); }));
  for (const auto& [id, name] : imported_) {
    const bool is_function =
        std::any_of(imports_.begin(), imports_.end(), [&](const SpirvImport& import) { return import.id == id; });
    if (is_function) continue;
    return failure(StatusCode::kInvalidArgument, "The kernels import '", name, "', which is no declared function.");
  }
  return {};
}

Status SpirvLink::read(const SpirvInstruction& one) {
  const auto add = [&](Words& section) { section.insert(section.end(), one.words.begin(), one.words.end()); };
  size_t length = 0;
  if (one.op == kFunction || is_in_function_) {
    read_function_part(one);
    return {};
  }
  switch (one.op) {
    case kCapability:
      if (one.size() > 1 && one[1] != kLinkage) capabilities_.insert(one[1]);
      return {};
    case kExtension: {
      BATON_TRY_ASSIGN(std::string name, read_string(one, 1, length));
      extensions_.insert(std::move(name));
      return {};
    }
    case kExtInstImport: {
      BATON_TRY_ASSIGN(std::string name, read_string(one, 2, length));
      instruction_sets_[std::move(name)] = one[1];
      return {};
    }
    case kMemoryModel:
      if (one.size() < 3) return bad_spirv(one.at, "a memory model lacks words");
      addressing_ = one[1];
      memory_model_ = one[2];
      return {};
    case kDecorate: return read_decoration(one);
    case kDecorateId:
    case kDecorateString:
    case kMemberDecorate: add(decorations_); return {};
    default: break;
  }
  // Lines of the source stand among declarations, too.
  const bool comes_first = one.op < kTypeVoid || one.op == kModuleProcessed || one.op == kExecutionModeId;
  if (comes_first && declarations_.empty()) {
    add(preamble_);
    return {};
  }
  if (one.op >= kDecorate && one.op <= kGroupMemberDecorate) {
    add(decorations_);
    return {};
  }
  if (is_type(one.op) && one.size() > 1) {
    Words& type = types_[one[1]];
    type = {one.op};
    type.insert(type.end(), one.words.begin() + 2, one.words.end());
    if (is_unique(one.op)) unique_.try_emplace(type, one[1]);
  }
  add(declarations_);
  return {};
}

Status SpirvLink::read_decoration(const SpirvInstruction& one) {
  if (one.size() < 3 || one[2] != kLinkageAttributes) {
    decorations_.insert(decorations_.end(), one.words.begin(), one.words.end());
    return {};
  }
  size_t length = 0;
  BATON_TRY_ASSIGN(std::string name, read_string(one, 3, length));
  if (one.size() > 3 + length && one[3 + length] == kImport) imported_[one[1]] = std::move(name);
  return {};
}

void SpirvLink::read_function_part(const SpirvInstruction& one) {
  if (one.op == kFunction && one.size() > 4) {
    is_in_function_ = true;
    const auto import = imported_.find(one[2]);
    is_import_ = import != imported_.end();
    if (is_import_) {
      SpirvImport made{
          .kind = SpirvImport::kNeeded, .name = import->second, .id = one[2], .type = one[4], .result = one[1]};
      for (const auto& [prefix, kind] : {std::pair(std::string_view(kOptionalImport), SpirvImport::kOptional),
                                         std::pair(std::string_view(kIsThere), SpirvImport::kQuestion)}) {
        if (!made.name.starts_with(prefix)) continue;
        made.kind = kind;
        made.name.erase(0, prefix.size());
      }
      imports_.push_back(std::move(made));
    }
  }
  if (!is_import_) functions_.insert(functions_.end(), one.words.begin(), one.words.end());
  if (is_import_ && one.op == kFunctionParameter && one.size() > 1) imports_.back().parameters.push_back(one[1]);
  if (one.op == kFunctionEnd) is_in_function_ = is_import_ = false;
}

// ---- Libraries ------------------------------------------------------------------------------------------------------

Status SpirvLink::take_settings(const SpirvFunctions& library) {
  if (library.memory_model != memory_model_ && library.memory_model == kVulkanModel) {
    return failure(StatusCode::kInvalidArgument, "It orders memory by Vulkan's model, and the kernels by GLSL's.");
  }
  if (library.addressing != kLogicalAddressing && library.addressing != kPhysicalAddressing) {
    return failure(StatusCode::kInvalidArgument, "Its addressing is not Vulkan's.");
  }
  if (library.version >= kVersion14 && version_ < kVersion14) {
    return failure(StatusCode::kInvalidArgument, "It is SPIR-V ", spirv_version_text(library.version),
                   ", and the kernels ", spirv_version_text(version_), ", whose variables are told otherwise.");
  }
  version_ = std::max(version_, library.version);
  if (library.addressing == kPhysicalAddressing) addressing_ = kPhysicalAddressing;
  for (const uint32_t each : library.capabilities) {
    if (each != kLinkage) capabilities_.insert(each);
  }
  extensions_.insert(library.extensions.begin(), library.extensions.end());
  return {};
}

Result<std::set<uint32_t>> SpirvLink::reached(const SpirvFunctions& library, const std::set<uint32_t>& wanted) const {
  std::set<uint32_t> seen = wanted;
  std::vector<uint32_t> open(wanted.begin(), wanted.end());
  while (!open.empty()) {
    const auto function = library.functions.find(open.back());
    open.pop_back();
    if (function == library.functions.end() || function->second.is_declared) {
      return failure(StatusCode::kInvalidArgument,
                     "Its functions need one that it does not define; what is missing is not looked for.");
    }
    for (const SpirvInstruction& one : function->second.body) {
      if (one.op == kFunctionCall && one.size() > 3 && seen.insert(one[3]).second) open.push_back(one[3]);
    }
  }
  return seen;
}

Status SpirvLink::note_ids(const SpirvInstruction& one, Mapping& mapping) {
  if (one.op == kSwitch) return {};
  BATON_TRY_ASSIGN(const SpirvOperands operands, operands_of(one));
  if (operands.result == 0) return {};
  const uint32_t id = one[operands.result];
  if (!mapping.kept.insert(id).second) return bad_spirv(one.at, text("id ", id, " is defined twice"));
  if (operands.type != 0) mapping.types[id] = one[operands.type];
  if (one.op == kTypeInt && one.size() > 2) mapping.widths[id] = one[2];
  return {};
}

Status SpirvLink::add(const SpirvFunctions& library, const std::set<uint32_t>& wanted) {
  BATON_TRY(take_settings(library));
  BATON_TRY_ASSIGN(const std::set<uint32_t> taken, reached(library, wanted));
  Mapping& mapping = mappings_[&library];
  for (const auto& [id, name] : library.instruction_sets) {
    if (name != kGlslSet) continue;
    const auto [set, is_new] = instruction_sets_.try_emplace(name, bound_);
    if (is_new) ++bound_;
    mapping.kept.insert(id);
    mapping.ids[id] = set->second;
  }
  for (const SpirvInstruction& one : library.declarations) BATON_TRY(note_ids(one, mapping));
  const auto for_each_taken = [&](auto&& visit) -> Status {
    for (const uint32_t function : taken) {
      for (const SpirvInstruction& one : library.functions.at(function).body) {
        constexpr uint32_t kLine = 8, kNoLine = 317, kNop = 0;
        if (one.op == kLine || one.op == kNoLine || one.op == kNop) continue;
        if (one.op == kControlBarrier) {
          return failure(StatusCode::kInvalidArgument, "It has a barrier, which a function can't.");
        }
        BATON_TRY(visit(one));
      }
    }
    return {};
  };
  BATON_TRY(for_each_taken([&](const SpirvInstruction& one) { return note_ids(one, mapping); }));
  for (const SpirvInstruction& one : library.declarations) BATON_TRY(map_declaration(one, library, mapping));
  BATON_TRY(for_each_taken([&](const SpirvInstruction& one) -> Status {
    BATON_TRY_ASSIGN(const Words words, mapped(one, library, mapping));
    functions_.insert(functions_.end(), words.begin(), words.end());
    return {};
  }));
  return map_decorations(library, mapping);
}

Result<uint32_t> SpirvLink::map(uint32_t id, const SpirvFunctions& library, Mapping& mapping) {
  if (library.variables.contains(id)) {
    return failure(StatusCode::kInvalidArgument, "Its functions use a variable outside of them, which they can't.");
  }
  if (!mapping.kept.contains(id)) {
    return failure(StatusCode::kInvalidArgument, "Id ", id,
                   " is used, and nothing that functions can have defines it.");
  }
  const auto [at, is_new] = mapping.ids.try_emplace(id, bound_);
  if (is_new) ++bound_;
  return at->second;
}

Result<SpirvLink::Words> SpirvLink::mapped(const SpirvInstruction& one, const SpirvFunctions& library,
                                           Mapping& mapping) {
  uint32_t selector_words = 1;
  if (one.op == kSwitch && one.size() > 1) {
    const auto type = mapping.types.find(one[1]);
    const auto width = type == mapping.types.end() ? mapping.widths.end() : mapping.widths.find(type->second);
    if (width != mapping.widths.end() && width->second > 32) selector_words = 2;
  }
  BATON_TRY_ASSIGN(const SpirvOperands operands, operands_of(one, selector_words));
  Words words(one.words.begin(), one.words.end());
  std::vector<uint32_t> ids = operands.used;
  if (operands.type != 0) ids.push_back(operands.type);
  if (operands.result != 0) ids.push_back(operands.result);
  for (const uint32_t word : ids) {
    BATON_TRY_ASSIGN(words[word], map(one[word], library, mapping));
  }
  return words;
}

Status SpirvLink::map_declaration(const SpirvInstruction& one, const SpirvFunctions& library, Mapping& mapping) {
  if (!is_type(one.op)) {
    BATON_TRY_ASSIGN(const Words words, mapped(one, library, mapping));
    declarations_.insert(declarations_.end(), words.begin(), words.end());
    return {};
  }
  if (one.size() < 2) return bad_spirv(one.at, "a type lacks words");
  BATON_TRY_ASSIGN(const SpirvOperands operands, operands_of(one));
  Words type = {one.op};
  for (uint32_t word = 2; word < one.size(); ++word) {
    uint32_t value = one[word];
    if (std::find(operands.used.begin(), operands.used.end(), word) != operands.used.end()) {
      BATON_TRY_ASSIGN(value, map(value, library, mapping));
    }
    type.push_back(value);
  }
  if (is_unique(one.op)) {
    const auto known = unique_.find(type);
    if (known != unique_.end()) {
      mapping.ids[one[1]] = known->second;
      return {};
    }
  }
  BATON_TRY_ASSIGN(const uint32_t id, map(one[1], library, mapping));
  if (is_unique(one.op)) unique_[type] = id;
  Words words = {id};
  words.insert(words.end(), type.begin() + 1, type.end());
  append(declarations_, one.op, words);
  types_[id] = std::move(type);
  return {};
}

// Of what came along.
Status SpirvLink::map_decorations(const SpirvFunctions& library, Mapping& mapping) {
  for (const SpirvInstruction& one : library.decorations) {
    if (one.size() < 3) return bad_spirv(one.at, "a decoration lacks words");
    const auto target = mapping.ids.find(one[1]);
    if (target == mapping.ids.end()) continue;
    Words words(one.words.begin(), one.words.end());
    words[1] = target->second;
    if (one.op == kDecorateId) {
      for (size_t word = 3; word < words.size(); ++word) {
        BATON_TRY_ASSIGN(words[word], map(one[word], library, mapping));
      }
    }
    decorations_.insert(decorations_.end(), words.begin(), words.end());
  }
  return {};
}

// ---- Imports --------------------------------------------------------------------------------------------------------

// GLSL passes through a variable of the caller's what a function may change; its integers have signs.
SpirvLink::Passing SpirvLink::passing(uint32_t ours, uint32_t theirs) const {
  if (ours == theirs) return Passing::kSame;
  const auto mine = types_.find(ours), other = types_.find(theirs);
  if (mine == types_.end() || other == types_.end()) return Passing::kNone;
  const Words &a = mine->second, &b = other->second;
  if (a[0] == kTypeInt && b[0] == kTypeInt && a.size() == 3 && b.size() == 3 && a[1] == b[1]) return Passing::kBits;
  if (b[0] != kTypePointer || b.size() != 3 || b[1] != kFunctionClass) return Passing::kNone;
  const Passing inner = passing(ours, b[2]);
  return inner == Passing::kNone || inner == Passing::kPointer ? Passing::kNone : Passing::kPointer;
}

std::string SpirvLink::type_text(uint32_t type, int depth) const {
  constexpr int kDepthMax = 4;
  const auto found = types_.find(type);
  if (found == types_.end() || depth > kDepthMax) return "a type";
  const Words& words = found->second;
  switch (words[0]) {
    case kTypeVoid: return "void";
    case kTypeBool: return "bool";
    case kTypeInt: return words.size() == 3 ? text(words[2] ? "int" : "uint", words[1]) : "a type";
    case kTypeFloat: return words.size() > 1 ? text("float", words[1]) : "a type";
    case kTypeVector: return words.size() == 3 ? text(type_text(words[1], depth + 1), "x", words[2]) : "a type";
    case kTypePointer:
      if (words.size() == 3 && words[1] == kFunctionClass) return type_text(words[2], depth + 1);
      return "a pointer";
    default: return "an aggregate";
  }
}

std::string SpirvLink::function_text(uint32_t result, std::span<const uint32_t> parameters) const {
  std::string types;
  for (const uint32_t each : parameters) types += text(types.empty() ? "" : ", ", type_text(each));
  return text("(", types, ") -> ", type_text(result));
}

void SpirvLink::begin_function(const SpirvImport& import, std::vector<uint32_t>& parameters) {
  append(functions_, kFunction, Words{import.result, import.id, 0, import.type});
  for (const uint32_t type : import.parameters) {
    parameters.push_back(new_id());
    append(functions_, kFunctionParameter, Words{type, parameters.back()});
  }
  append(functions_, kLabel, Words{new_id()});
}

// 0: there is none.
void SpirvLink::return_value(uint32_t value) {
  if (value == 0) {
    append(functions_, kReturn, {});
  } else {
    append(functions_, kReturnValue, Words{value});
  }
  append(functions_, kFunctionEnd, {});
}

Status SpirvLink::define(const SpirvImport& import, const SpirvFunctions& library, uint32_t function) {
  Mapping& mapping = mappings_.at(&library);
  std::vector<uint32_t> theirs;
  const SpirvFunction& found = library.functions.at(function);
  const uint32_t result = mapping.ids.at(found.body[0][1]);
  for (const SpirvInstruction& one : found.body) {
    if (one.op == kFunctionParameter) theirs.push_back(mapping.ids.at(one[1]));
  }
  const Passing back = passing(import.result, result);
  bool fits = theirs.size() == import.parameters.size() && (back == Passing::kSame || back == Passing::kBits);
  for (size_t i = 0; fits && i < theirs.size(); ++i) {
    fits = passing(import.parameters[i], theirs[i]) != Passing::kNone;
  }
  if (!fits) {
    return failure(StatusCode::kInvalidArgument, "Function '", import.name, "' of '", library.path, "' is ",
                   function_text(result, theirs), "; the kernels call it as ",
                   function_text(import.result, import.parameters), ".");
  }
  std::vector<uint32_t> given;
  begin_function(import, given);
  // Variables stand before everything else.
  std::vector<uint32_t> operands = {result, new_id(), mapping.ids.at(function)};
  for (size_t i = 0; i < theirs.size(); ++i) {
    operands.push_back(given[i]);
    if (passing(import.parameters[i], theirs[i]) != Passing::kPointer) continue;
    operands.back() = new_id();
    append(functions_, kVariable, Words{theirs[i], operands.back(), kFunctionClass});
  }
  for (size_t i = 0; i < theirs.size(); ++i) {
    if (operands[3 + i] == given[i]) {
      operands[3 + i] = passed(given[i], import.parameters[i], theirs[i]);
      continue;
    }
    const uint32_t value = passed(given[i], import.parameters[i], types_.at(theirs[i])[2]);
    append(functions_, kStore, Words{operands[3 + i], value});
  }
  append(functions_, kFunctionCall, operands);
  const bool is_void = types_.contains(result) && types_.at(result)[0] == kTypeVoid;
  return_value(is_void ? 0 : passed(operands[1], result, import.result));
  return {};
}

// The value as one of the other type.
uint32_t SpirvLink::passed(uint32_t value, uint32_t ours, uint32_t theirs) {
  if (ours == theirs) return value;
  const uint32_t made = new_id();
  append(functions_, kBitcast, Words{theirs, made, value});
  return made;
}

void SpirvLink::answer(const SpirvImport& import, bool is_there) {
  const uint32_t truth = new_id();
  append(declarations_, is_there ? kConstantTrue : kConstantFalse, Words{import.result, truth});
  std::vector<uint32_t> parameters;
  begin_function(import, parameters);
  return_value(truth);
}

void SpirvLink::leave_out(const SpirvImport& import) {
  const auto result = types_.find(import.result);
  uint32_t nothing = 0;
  if (result != types_.end() && result->second[0] != kTypeVoid) {
    nothing = new_id();
    append(declarations_, kConstantNull, Words{import.result, nothing});
  }
  std::vector<uint32_t> parameters;
  begin_function(import, parameters);
  return_value(nothing);
}

Result<std::vector<uint32_t>> SpirvLink::finish() const {
  if (bound_ > kIdsMax) {
    return failure(StatusCode::kOutOfRange, "Kernels and functions have more ids than SPIR-V allows (", kIdsMax, ").");
  }
  Words words = {kMagic, version_, 0, bound_, 0};
  for (const uint32_t each : capabilities_) append(words, kCapability, Words{each});
  for (const std::string& name : extensions_) {
    Words operands;
    append_text(operands, name);
    append(words, kExtension, operands);
  }
  for (const auto& [name, id] : instruction_sets_) {
    Words operands = {id};
    append_text(operands, name);
    append(words, kExtInstImport, operands);
  }
  append(words, kMemoryModel, Words{addressing_, memory_model_});
  for (const Words* section : {&preamble_, &decorations_, &declarations_, &functions_}) {
    words.insert(words.end(), section->begin(), section->end());
  }
  return words;
}

}  // namespace baton::hal::drivers::vulkan
