#include "tools/dump/sections.hpp"

#include <set>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "tools/dump/disassembly.hpp"
#include "tools/dump/executables.hpp"

namespace baton::tools::dump {
namespace {

using bytecode::ModuleView;

// "code             128\n": numbers stand in one column.
std::string size_line(std::string_view what, uint64_t size) {
  constexpr size_t kWhatWidth = 16;
  constexpr size_t kSizeWidth = 12;
  const std::string number = text(size);
  return text("  ", what, std::string(kWhatWidth - what.size(), ' '),
              std::string(number.size() < kSizeWidth ? kSizeWidth - number.size() : 1, ' '), number, "\n");
}

std::string describe_sizes(const ModuleView& module) {
  const Sizes sizes = sizes_of(module);
  return text("sizes in bytes\n", size_line("code", sizes.code), size_line("rodata", sizes.rodata),
              size_line("  device code", sizes.device_code), size_line("rodata padding", sizes.rodata_padding),
              size_line("tables", sizes.tables), size_line("file", sizes.file));
}

std::string describe_imports(const ModuleView& module) {
  std::string lines = text("imports (", module.import_count(), ")\n");
  for (uint32_t i = 0; i < module.import_count(); ++i) {
    const bytecode::ImportView import = module.import(i);
    lines += text("  ", import.name, " is ", bytecode::describe_signature(import.signature));
    if (import.minimum_version) lines += text(", version ", import.minimum_version, " or later");
    if (import.optional) lines += ", optional";
    if (import.fallback != bytecode::kNoIndex) lines += text(", else @", module.function_name(import.fallback));
    lines += "\n";
  }
  return lines;
}

std::string describe_exports(const ModuleView& module) {
  std::string lines = text("exports (", module.export_count(), ")\n");
  for (uint32_t i = 0; i < module.export_count(); ++i) {
    const bytecode::ExportView function = module.export_at(i);
    lines += text("  ", function.name, " is ",
                  bytecode::describe_signature(module.function(function.function).signature), "\n");
  }
  return lines;
}

std::string describe_functions(const ModuleView& module) {
  std::string lines = text("functions (", module.function_count(), ")\n");
  for (uint32_t i = 0; i < module.function_count(); ++i) {
    const bytecode::FunctionView function = module.function(i);
    lines += text("  @", module.function_name(i), " is ", bytecode::describe_signature(function.signature), ": ",
                  function.code.size() * sizeof(uint64_t), " bytes of code, ", function.value_registers,
                  " value registers, ", function.ref_registers, " reference registers\n");
  }
  return lines;
}

std::string describe_rodata(const ModuleView& module) {
  std::string lines = text("rodata (", module.rodata_count(), ")\n");
  for (uint32_t i = 0; i < module.rodata_count(); ++i) {
    lines += text("  @", module.rodata_name(i), ": ", module.rodata(i).size(), " bytes\n");
  }
  return lines;
}

std::string describe_attributes(const ModuleView& module) {
  std::string lines = text("attributes (", module.attribute_count(), ")\n");
  for (uint32_t i = 0; i < module.attribute_count(); ++i) {
    const bytecode::AttributeView attribute = module.attribute(i);
    const std::string owner =
        attribute.function == bytecode::kNoIndex ? "module" : text("@", module.function_name(attribute.function));
    lines += text("  ", owner, ": ", attribute.key, " = ", attribute.value, "\n");
  }
  return lines;
}

std::string launch_lines(std::string_view indent, const std::vector<hal::EntryPoint>& launches) {
  std::string lines;
  for (const hal::EntryPoint& entry : launches) {
    lines += text(indent, "launches ", entry.name, " with ", describe_launch(entry), "\n");
  }
  return lines;
}

std::string variant_lines(const Variant& variant) {
  std::string line = text("    ", variant.format, ": ", variant.code.size(), " bytes (", code_suffix(variant),
                          "), rodata ", variant.rodata);
  if (!variant.target.empty()) line += text(", for ", variant.target);
  if (!variant.condition.empty()) line += text(", where @", variant.condition, " says so");
  if (variant.constants != 0) line += text(", ", variant.constants, " words when it is loaded");
  return line + "\n" + (variant.has_own_launches ? launch_lines("      ", variant.launches) : "");
}

std::string describe_executables(const ModuleView& module) {
  const std::vector<Executable> executables = list_executables(module);
  std::string lines = text("executables (", executables.size(), ")\n");
  for (const Executable& one : executables) {
    lines += text("  ", one.name, describe_place(module, one.pc), "\n");
    if (!one.registered_as.empty()) lines += text("    brought by the host as '", one.registered_as, "'\n");
    for (const Variant& variant : one.variants) lines += variant_lines(variant);
    for (const bytecode::EntryPointView& entry : one.entry_points) {
      const std::string layout = describe_layout(entry);
      lines += text("    entry point ", entry.name(), layout.empty() ? "" : ": ", layout, "\n");
    }
    lines += launch_lines("    ", one.launches);
  }
  if (makes_unlisted_executables(module)) lines += "  and those that functions make without a row in the table\n";
  return lines;
}

struct Section {
  std::string_view name;
  std::string (*describe)(const ModuleView&);
};
constexpr Section kSections[] = {{"sizes", describe_sizes},
                                 {"imports", describe_imports},
                                 {"exports", describe_exports},
                                 {"functions", describe_functions},
                                 {"rodata", describe_rodata},
                                 {"attributes", describe_attributes},
                                 {"executables", describe_executables},
                                 {"disassembly", describe_disassembly}};

}  // namespace

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  return names;
}

std::string describe_section(const ModuleView& module, std::string_view name) {
  for (const Section& section : kSections) {
    if (section.name == name) return section.describe(module);
  }
  return "";
}

Sizes sizes_of(const ModuleView& module) {
  Sizes sizes{};
  sizes.file = module.bytes().size();
  sizes.code = module.code().size_bytes();
  std::set<uint32_t> device_code;  // Variants may share a segment.
  for (const Executable& executable : list_executables(module)) {
    for (const Variant& variant : executable.variants) device_code.insert(variant.rodata);
  }
  for (const uint32_t segment : device_code) sizes.device_code += module.rodata(segment).size();
  uint64_t rodata_begin = sizes.file;
  for (uint32_t i = 0; i < module.rodata_count(); ++i) {
    const std::span<const std::byte> segment = module.rodata(i);
    sizes.rodata += segment.size();
    rodata_begin = std::min(rodata_begin, static_cast<uint64_t>(segment.data() - module.bytes().data()));
  }
  sizes.rodata_padding = sizes.file - rodata_begin - sizes.rodata;
  sizes.tables = rodata_begin - sizes.code;
  return sizes;
}

}  // namespace baton::tools::dump
