#include "tools/dump/executables.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "bytecode/instruction_reader.hpp"
#include "hal/code_format.hpp"
#include "modules/hal_module/executable_row.hpp"

namespace baton::tools::dump {
namespace {

using bytecode::kNoIndex;
using bytecode::ModuleView;
using bytecode::Opcode;

// By executable, the first instruction that names it.
std::vector<uint32_t> find_places(const ModuleView& module) {
  std::vector<uint32_t> places(module.executable_count(), kNoIndex);
  const auto& operands = bytecode::info(Opcode::executable).operands();
  for (uint32_t i = 0; i < module.function_count(); ++i) {
    const bytecode::FunctionView function = module.function(i);
    for (size_t at = 0; at < function.code.size();) {
      const uint64_t* words = &function.code[at];
      const bytecode::InstructionInfo& row = bytecode::info(bytecode::read_opcode(words));
      if (bytecode::read_opcode(words) == Opcode::executable) {
        uint32_t& place = places[bytecode::read_operand(words, operands.operands[1].kind, operands.halves[1])];
        place = std::min(place, function.code_begin + static_cast<uint32_t>(at));
      }
      at += bytecode::instruction_words(words, row);
    }
  }
  return places;
}

// An unknown launch attribute is reported when the program is loaded.
std::vector<hal::EntryPoint> launches_of(const bytecode::ExecutableView& row, uint32_t variant) {
  auto expected = modules::expected_of(row, variant);
  return expected.has_value() ? *std::move(expected) : std::vector<hal::EntryPoint>();
}

Variant variant_of(const ModuleView& module, const bytecode::ExecutableView& row, uint32_t index) {
  const bytecode::VariantView view = row.variant(index);
  return {.format = view.format(),
          .code = module.rodata(view.rodata()),
          .rodata = view.rodata(),
          .target = view.target(),
          .condition = view.condition() == kNoIndex ? std::string_view() : module.function_name(view.condition()),
          .constants = view.constants(),
          .has_own_launches = view.has_launches(),
          .launches = launches_of(row, index)};
}

}  // namespace

std::vector<Executable> list_executables(const ModuleView& module) {
  const std::vector<uint32_t> places = find_places(module);
  std::vector<Executable> executables;
  for (uint32_t i = 0; i < module.executable_count(); ++i) {
    const bytecode::ExecutableView row = module.executable(i);
    Executable& made = executables.emplace_back();
    made = {row.name(), places[i], {}, {}, row.registered_name(), launches_of(row, kNoIndex)};
    for (uint32_t j = 0; j < row.entry_point_count(); ++j) made.entry_points.push_back(row.entry_point(j));
    for (uint32_t j = 0; j < row.variant_count(); ++j) made.variants.push_back(variant_of(module, row, j));
  }
  return executables;
}

bool makes_unlisted_executables(const ModuleView& module) {
  for (uint32_t i = 0; i < module.import_count(); ++i) {
    const std::string_view name = module.import(i).name;
    if (name.starts_with("hal.executable.create") || name.starts_with("hal.executable.lookup")) return true;
  }
  return false;
}

std::string describe_layout(const bytecode::EntryPointView& entry) {
  if (!entry.knows_layout()) return "";
  constexpr std::string_view kAccesses[] = {"open", "read", "write", "read_write"};
  std::string line = text(entry.constants(), entry.constants() == 1 ? " constant" : " constants");
  for (uint32_t i = 0; i < entry.binding_count(); ++i) {
    line += text(i == 0 ? ", bindings " : ", ", kAccesses[entry.binding(i)]);
  }
  return line;
}

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
  std::string places;
  for (const uint32_t place : entry.binding_places) {
    places += text(places.empty() ? ", bindings at parameters " : ", ", place);
  }
  line += places;
  return line;
}

std::string_view code_suffix(const Variant& variant) {
  constexpr uint32_t kBitcode = 0xdec04342;
  const std::span<const std::byte> code = variant.code;
  const uint32_t magic = code.size() >= sizeof(uint32_t) ? load_bytes<uint32_t>(code.data()) : 0;
  if (magic == kBitcode) return "bc";
  if (magic == hal::kFatElfMagic) return "sos";
  if (magic == hal::kFatbinMagic) return "fatbin";
  const Result<std::string> format = hal::tell_code_format(code);
  if (!format) return magic == hal::kElfMagic ? "elf" : "bin";
  if (*format == "cuda-ptx") return "ptx";
  if (format->starts_with("cuda-")) return "cubin";
  if (format->starts_with("vulkan-")) return "spv";
  return variant.format.starts_with("system-") ? "so" : "elf";
}

}  // namespace baton::tools::dump
