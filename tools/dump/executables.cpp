#include "tools/dump/executables.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "bytecode/instruction_reader.hpp"

namespace baton::tools::dump {
namespace {

using bytecode::ModuleView;
using bytecode::Opcode;
using bytecode::OperandKind;

// What a reference register is known to hold.
struct Known {
  enum Kind : uint8_t { kNothing, kRodata, kExecutable } kind = kNothing;
  uint32_t index = 0;
};

struct Instruction {
  const uint64_t* words;
  const bytecode::InstructionInfo& row;

  Opcode opcode() const { return bytecode::read_opcode(words); }
  // The first operand of a kind that is at or behind position `from`.
  std::optional<uint64_t> operand(OperandKind kind, size_t from = 0) const {
    const bytecode::OperandList& list = row.operands();
    for (size_t i = from; i < list.count; ++i) {
      if (list.operands[i].kind == kind) return bytecode::read_operand(words, kind, list.halves[i]);
    }
    return std::nullopt;
  }
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Walks the functions in code order and follows references through registers and globals. Where control joins, nothing
// is known any more.
class Search {
 public:
  explicit Search(const ModuleView& module) : module_(module), globals_(module.global_count()) {}

  std::vector<Executable> run() {
    for (uint32_t i = 0; i < module_.function_count(); ++i) walk(module_.function(i));
    return std::move(found_);
  }

 private:
  void walk(const bytecode::FunctionView& function) {
    registers_.assign(function.ref_registers + size_t{1}, {});
    const std::vector<size_t> labels = labels_of(function);
    for (size_t at = 0; at < function.code.size();) {
      const Instruction one = instruction_at(function, at);
      if (std::binary_search(labels.begin(), labels.end(), at)) registers_.assign(registers_.size(), {});
      step(one, function.code_begin + static_cast<uint32_t>(at));
      at += bytecode::instruction_words(one.words, one.row);
    }
  }

  static Instruction instruction_at(const bytecode::FunctionView& function, size_t at) {
    const uint64_t* words = &function.code[at];
    return {words, bytecode::info(bytecode::read_opcode(words))};
  }

  static std::vector<size_t> labels_of(const bytecode::FunctionView& function) {
    std::vector<size_t> labels;
    for (size_t at = 0; at < function.code.size();) {
      const Instruction one = instruction_at(function, at);
      const auto add = [&](int64_t offset) {
        labels.push_back(static_cast<size_t>(static_cast<int64_t>(at) + offset));
      };
      if (const auto near = one.operand(OperandKind::kNearLabel)) add(static_cast<int16_t>(*near));
      if (const auto far = one.operand(OperandKind::kLabel)) add(static_cast<int32_t>(*far));
      if (one.opcode() == Opcode::br_table) {
        const uint64_t count = *one.operand(OperandKind::kCount);
        for (size_t i = 0; i < count; ++i) add(bytecode::read_label(one.words + one.row.operands().words, i));
      }
      at += bytecode::instruction_words(one.words, one.row);
    }
    std::sort(labels.begin(), labels.end());
    return labels;
  }

  void step(const Instruction& one, uint32_t pc) {
    if (const auto import = one.operand(OperandKind::kImport); import && one.operand(OperandKind::kRefBase)) {
      return call(module_.import(static_cast<uint32_t>(*import)), one, pc);
    }
    if (const auto base = one.operand(OperandKind::kRefBase)) return forget_from(*base);
    const auto target = one.operand(OperandKind::kDefRef);
    const auto source = one.operand(OperandKind::kUseRef);
    const auto global = one.operand(OperandKind::kGlobalRef);
    switch (one.opcode()) {
      case Opcode::rodata:
        registers_[*target] = {Known::kRodata, static_cast<uint32_t>(*one.operand(OperandKind::kRodata))};
        break;
      case Opcode::copy_ref: registers_[*target] = registers_[*source]; break;
      case Opcode::move_ref: registers_[*target] = registers_[*one.operand(OperandKind::kTakeRef)]; break;
      case Opcode::global_get_ref: registers_[*target] = globals_[*global]; break;
      case Opcode::global_set_ref: keep(registers_[*source], static_cast<uint32_t>(*global)); break;
      default:
        if (target) registers_[*target] = {};
    }
  }

  void keep(Known value, uint32_t global) {
    globals_[global] = value;
    if (value.kind != Known::kExecutable) return;
    std::string_view name = module_.global_name(global);
    if (name.starts_with("executable.")) name.remove_prefix(11);  // What our compiler calls them.
    if (!name.empty()) found_[value.index].name = name;
  }

  void call(const bytecode::ImportView& import, const Instruction& one, uint32_t pc) {
    const uint64_t base = *one.operand(OperandKind::kRefBase);
    const std::vector<Known> given = arguments(import, one, base);
    Known result;
    if (import.name == "hal.executable.create" && given.size() % 2 == 1) {
      result = create(given, pc);
    } else if (import.name == "hal.executable.create_with_entry_points") {
      result = create(variants_only(given, import, one), pc);
    } else if (import.name == "hal.executable.lookup" && given.size() == 2) {
      result = lookup(given[1], pc);
    } else if (import.name == "hal.executable.entry_point" && given.size() == 2) {
      ask(given[0], given[1]);
    }
    forget_from(base);
    if (result.kind != Known::kNothing) registers_[base] = result;
  }

  // The references that a call gives, in order: from the base on, or as its list says.
  std::vector<Known> arguments(const bytecode::ImportView& import, const Instruction& one, uint64_t base) const {
    const bytecode::SignatureShape shape = *bytecode::signature_shape(import.signature);  // Verified: well formed.
    const uint64_t* list = one.words + one.row.operands().words;
    std::vector<Known> given;
    if (one.opcode() == Opcode::call_lend) {
      const uint64_t count = *one.operand(OperandKind::kCount);
      for (uint64_t i = shape.segments; i < count; ++i) given.push_back(at(bytecode::read_element(list, i)));
      return given;
    }
    std::vector<bytecode::SegmentShape> segments(shape.segments);
    if (one.opcode() == Opcode::call_variadic) bytecode::segment_shapes(import.signature, segments.data());
    uint64_t count = shape.argument_refs;
    for (size_t i = 0; i < segments.size(); ++i) count += segments[i].refs * uint64_t{bytecode::read_element(list, i)};
    for (uint64_t i = 0; i < count; ++i) given.push_back(at(base + i));
    return given;
  }

  // Without the names of entry points, which follow the variants.
  static std::vector<Known> variants_only(std::vector<Known> given, const bytecode::ImportView& import,
                                          const Instruction& one) {
    const bool counted = one.opcode() == Opcode::call_variadic || one.opcode() == Opcode::call_lend;
    if (!counted || bytecode::signature_shape(import.signature)->segments == 0) return {};
    const uint64_t variants = bytecode::read_element(one.words + one.row.operands().words, 0);
    if (given.size() < 1 + 2 * variants) return {};
    given.resize(1 + 2 * variants);
    return given;
  }

  // (device, (format, code)...): nothing unless every blob is rodata.
  Known create(const std::vector<Known>& given, uint32_t pc) {
    if (given.empty()) return {};
    Executable made{text("executable_", found_.size()), pc, {}, {}, {}};
    for (size_t i = 1; i < given.size(); i += 2) {
      const Known format = given[i], code = given[i + 1];
      if (format.kind != Known::kRodata || code.kind != Known::kRodata) return {};
      made.variants.push_back({text_of(module_.rodata(format.index)), module_.rodata(code.index), code.index});
    }
    return add(std::move(made));
  }

  Known lookup(Known name, uint32_t pc) {
    if (name.kind != Known::kRodata) return {};
    const std::string_view text = text_of(module_.rodata(name.index));
    return add({std::string(text), pc, {}, {}, text});
  }

  Known add(Executable made) {
    found_.push_back(std::move(made));
    return {Known::kExecutable, static_cast<uint32_t>(found_.size() - 1)};
  }

  void ask(Known executable, Known name) {
    if (executable.kind != Known::kExecutable || name.kind != Known::kRodata) return;
    std::vector<std::string_view>& names = found_[executable.index].entry_points;
    const std::string_view text = text_of(module_.rodata(name.index));
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }

  Known at(uint64_t index) const { return index < registers_.size() ? registers_[index] : Known{}; }
  void forget_from(uint64_t base) {
    for (uint64_t i = base; i < registers_.size(); ++i) registers_[i] = {};
  }

  const ModuleView& module_;
  std::vector<Known> registers_;
  std::vector<Known> globals_;
  std::vector<Executable> found_;
};

}  // namespace

std::vector<Executable> find_executables(const ModuleView& module) { return Search(module).run(); }

std::string_view code_suffix(const Variant& variant) {
  constexpr uint32_t kElf = 0x464c457f, kFatElf = 0x1F0E70FA, kFatbin = 0xba55ed50, kSpirv = 0x07230203,
                     kBitcode = 0xdec04342;
  constexpr uint16_t kMachineCuda = 190;
  const std::span<const std::byte> code = variant.code;
  const uint32_t magic = code.size() >= 4 ? load_bytes<uint32_t>(code.data()) : 0;
  if (magic == kElf) {
    if (code.size() >= 20 && load_bytes<uint16_t>(code.data() + 18) == kMachineCuda) return "cubin";
    return variant.format.starts_with("system-") ? "so" : "elf";
  }
  if (magic == kFatElf) return "sos";
  if (magic == kFatbin) return "fatbin";
  if (magic == kSpirv) return "spv";
  if (magic == kBitcode) return "bc";
  const std::string_view text = text_of(code);
  if (text.find(".version") != text.npos && text.find(".target") != text.npos) return "ptx";
  return "bin";
}

}  // namespace baton::tools::dump
