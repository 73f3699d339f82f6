#include "tools/dump/executables.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "bytecode/instruction_reader.hpp"
#include "hal/launch_attributes.hpp"

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
    numbers_.assign(function.value_registers + size_t{1}, {});
    const std::vector<size_t> labels = labels_of(function);
    for (size_t at = 0; at < function.code.size();) {
      const Instruction one = instruction_at(function, at);
      if (std::binary_search(labels.begin(), labels.end(), at)) {
        registers_.assign(registers_.size(), {});
        numbers_.assign(numbers_.size(), {});
      }
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
    if (const auto base = one.operand(OperandKind::kRefBase)) {
      return forget_from(*base, *one.operand(OperandKind::kValueBase));
    }
    step_number(one);
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

  void step_number(const Instruction& one) {
    const auto target = one.operand(OperandKind::kDef);
    switch (one.opcode()) {
      case Opcode::const_i32:
      case Opcode::const_i64: numbers_[*target] = static_cast<int32_t>(*one.operand(OperandKind::kImmI32)); return;
      case Opcode::const_i64_wide: numbers_[*target] = static_cast<int64_t>(*one.operand(OperandKind::kImmI64)); return;
      case Opcode::move: numbers_[*target] = numbers_[*one.operand(OperandKind::kUse)]; return;
      default: break;
    }
    const bytecode::OperandList& list = one.row.operands();
    for (size_t i = 0; i < list.count; ++i) {
      const OperandKind kind = list.operands[i].kind;
      if (kind != OperandKind::kDef && kind != OperandKind::kUpdate) continue;
      numbers_[bytecode::read_operand(one.words, kind, list.halves[i])].reset();
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
    const uint64_t value_base = *one.operand(OperandKind::kValueBase);
    const Given given = arguments(import, one, base, value_base);
    const std::span<const Known> refs = given.refs;
    Known result;
    if (import.name == "hal.executable.create" && refs.size() % 2 == 1) {
      result = create(refs, pc);
    } else if (import.name == "hal.executable.create_with_entry_points" ||
               import.name == "hal.executable.create_with_launch_attributes") {
      const size_t variants = given.counts.empty() ? 0 : given.counts[0];
      if (refs.size() > 2 * variants) result = create(refs.first(1 + 2 * variants), pc);
      add_launches(result, given, 1 + 2 * variants, 1);
    } else if (import.name == "hal.executable.lookup" && refs.size() == 2) {
      result = lookup(refs[1], pc);
    } else if (import.name == "hal.executable.lookup_with_entry_points" && refs.size() >= 2) {
      result = lookup(refs[1], pc);
      add_launches(result, given, 2, 0);
    } else if (import.name == "hal.executable.entry_point" && refs.size() == 2) {
      ask(refs[0], refs[1]);
    }
    forget_from(base, value_base);
    if (result.kind != Known::kNothing) registers_[base] = result;
  }

  // What a call gives: references and numbers in order, and how often each variadic segment stands.
  struct Given {
    std::vector<Known> refs;
    std::vector<std::optional<int64_t>> numbers;
    std::vector<size_t> counts;
  };

  // References stand from the base on, or as the call's list says; numbers from the base on.
  Given arguments(const bytecode::ImportView& import, const Instruction& one, uint64_t base,
                  uint64_t value_base) const {
    const bytecode::SignatureShape shape = *bytecode::signature_shape(import.signature);  // Verified: well formed.
    const uint64_t* list = one.words + one.row.operands().words;
    const bool lends = one.opcode() == Opcode::call_lend;
    std::vector<bytecode::SegmentShape> segments(shape.segments);
    if (lends || one.opcode() == Opcode::call_variadic) {
      bytecode::segment_shapes(import.signature, segments.data());
    } else {
      segments.clear();
    }
    Given given;
    uint64_t refs = shape.argument_refs, numbers = shape.argument_values;
    for (size_t i = 0; i < segments.size(); ++i) {
      given.counts.push_back(bytecode::read_element(list, i));
      refs += segments[i].refs * given.counts[i];
      numbers += segments[i].values * given.counts[i];
    }
    for (uint64_t i = 0; i < refs; ++i) {
      given.refs.push_back(at(lends ? bytecode::read_element(list, segments.size() + i) : base + i));
    }
    for (uint64_t i = value_base; i < value_base + numbers; ++i) {
      given.numbers.push_back(i < numbers_.size() ? numbers_[i] : std::nullopt);
    }
    return given;
  }

  // What the program says of entry points: segment `segment` lists them, the next one, if there is any, attributes of
  // their launches. References begin at `ref`, and no number stands before them.
  void add_launches(Known executable, const Given& given, size_t ref, size_t segment) {
    if (executable.kind != Known::kExecutable || given.counts.size() <= segment) return;
    constexpr size_t kNumbers = 6, kAttributeNumbers = 2;
    const size_t entries = given.counts[segment];
    const size_t attributes = given.counts.size() > segment + 1 ? given.counts[segment + 1] : 0;
    std::vector<hal::EntryPoint> launches;
    for (size_t i = 0; i < entries; ++i) {
      const std::optional<int64_t>* numbers = &given.numbers[kNumbers * i];
      const Known name = given.refs[ref + i];
      if (name.kind != Known::kRodata || std::find(numbers, numbers + kNumbers, std::nullopt) != numbers + kNumbers) {
        return;
      }
      const auto number = [&](size_t at) { return static_cast<uint32_t>(*numbers[at]); };
      launches.push_back({std::string(text_of(module_.rodata(name.index))),
                          number(0),
                          number(1),
                          {number(2), number(3), number(4)},
                          number(5)});
    }
    for (size_t i = 0; i < attributes; ++i) {
      const std::optional<int64_t>* numbers = &given.numbers[kNumbers * entries + kAttributeNumbers * i];
      const Known name = given.refs[ref + entries + i];
      if (name.kind != Known::kRodata || !numbers[0] || !numbers[1]) return;
      const auto index = static_cast<size_t>(*numbers[0]);
      if (index >= launches.size()) return;
      // One that there isn't is told when the program is loaded.
      const Status unknown =
          hal::set_launch_attribute(launches[index].launch, text_of(module_.rodata(name.index)), *numbers[1]);
      if (!unknown.ok()) return;
    }
    found_[executable.index].launches = std::move(launches);
  }

  // (device, (format, code)...): nothing unless every blob is rodata.
  Known create(std::span<const Known> given, uint32_t pc) {
    if (given.empty()) return {};
    Executable made{text("executable_", found_.size()), pc, {}, {}, {}, {}};
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
    return add({std::string(text), pc, {}, {}, text, {}});
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
  void forget_from(uint64_t base, uint64_t value_base) {
    for (uint64_t i = base; i < registers_.size(); ++i) registers_[i] = {};
    for (uint64_t i = value_base; i < numbers_.size(); ++i) numbers_[i].reset();
  }

  const ModuleView& module_;
  std::vector<Known> registers_;
  std::vector<std::optional<int64_t>> numbers_;  // What value registers are known to hold.
  std::vector<Known> globals_;
  std::vector<Executable> found_;
};

}  // namespace

std::vector<Executable> find_executables(const ModuleView& module) { return Search(module).run(); }

std::string describe_launch(const hal::EntryPoint& entry) {
  const uint32_t(&size)[3] = entry.workgroup_size;
  const hal::LaunchAttributes& launch = entry.launch;
  std::string line = text(entry.constant_count, entry.constant_count == 1 ? " constant, " : " constants, ",
                          entry.binding_count, entry.binding_count == 1 ? " binding, " : " bindings, ", size[0], " x ",
                          size[1], " x ", size[2], " threads");
  if (entry.local_memory_bytes) line += text(", ", entry.local_memory_bytes, " bytes of local memory");
  if (launch.has_cluster()) {
    line += text(", clusters of ", std::max(launch.cluster_size[0], 1u), " x ", std::max(launch.cluster_size[1], 1u),
                 " x ", std::max(launch.cluster_size[2], 1u));
  }
  if (launch.cooperative) line += ", cooperative";
  if (launch.early) line += ", early";
  if (launch.priority) line += text(", priority ", launch.priority);
  if (launch.local_memory_carveout_percent) {
    line += text(", ", *launch.local_memory_carveout_percent, " % of the fast memory local");
  }
  if (launch.subgroup_size) line += text(", subgroups of ", launch.subgroup_size);
  return line;
}

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
