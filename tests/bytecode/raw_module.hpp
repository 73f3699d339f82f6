// Writes module files field by field, good or bad: what the assembler would refuse to say, verifier tests say with
// this.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "bytecode/executable_row.hpp"
#include "bytecode/module_bytes.hpp"
#include "bytecode/module_view.hpp"
#include "bytecode/opcode.hpp"
#include "module_generated.h"

namespace baton::bytecode {

// One 8-byte word from its four halves.
constexpr uint64_t word(uint64_t half0, uint64_t half1 = 0, uint64_t half2 = 0, uint64_t half3 = 0) {
  return (half0 & 0xffff) | (half1 & 0xffff) << 16 | (half2 & 0xffff) << 32 | (half3 & 0xffff) << 48;
}
constexpr uint64_t word(Opcode opcode, uint64_t half1 = 0, uint64_t half2 = 0, uint64_t half3 = 0) {
  return word(static_cast<uint64_t>(opcode), half1, half2, half3);
}
// The same with a 32-bit operand in the upper half.
constexpr uint64_t wide_word(Opcode opcode, uint64_t half1, int64_t operand) {
  return word(opcode, half1) | static_cast<uint64_t>(operand) << 32;
}

struct RawImport {
  std::string name;
  uint32_t signature = 0;
  bool optional = false;
  uint32_t fallback = kNoIndex;
};
struct RawExport {
  std::string name;
  uint32_t function = 0;
};
struct RawAttribute {
  uint32_t function = kNoIndex;
  std::string key;
  std::string value;
};
struct RawDebug {
  std::vector<std::string> function_names, global_names, rodata_names, files;
  std::vector<format::LocationRow> locations;
};

// The default is a good module of one function that returns.
struct RawModule {
  uint32_t format_version = kFormatVersion;
  uint32_t isa_version = kIsaVersion;
  uint64_t required_features = 0;
  std::string name = "raw";
  std::vector<std::string> types;
  std::vector<std::string> signatures = {"v_v"};
  std::vector<format::FunctionRow> functions = {{0, 1, 0, 0, 0}};
  std::vector<uint64_t> code = {word(Opcode::ret)};
  std::vector<RawImport> imports;
  std::vector<RawExport> exports;
  std::vector<format::GlobalRow> globals;
  std::vector<format::RodataRow> rodata;  // offsets count from the end of the table, rounded up to 64
  std::vector<RawAttribute> attributes;
  std::vector<ExecutableRow> executables;
  uint32_t initializer = kNoIndex;
  std::optional<RawDebug> debug;
  size_t rodata_bytes = 0;  // after the table

  // One function of the given signature and frame over `words`.
  static RawModule with_function(std::string signature, uint16_t value_registers, uint16_t ref_registers,
                                 std::vector<uint64_t> words) {
    RawModule module;
    module.signatures = {std::move(signature)};
    module.functions = {{0, static_cast<uint32_t>(words.size()), 0, value_registers, ref_registers}};
    module.code = std::move(words);
    return module;
  }

  ModuleBytes finish() const {
    const size_t table_size = align_up(build(0).size(), kRodataAlignment);
    std::vector<std::byte> bytes = build(table_size);
    bytes.resize(table_size + rodata_bytes);
    return ModuleBytes::copy(bytes);
  }

 private:
  static format::LaunchRow launch_row(const LaunchRow& row) {
    return {row.workgroup_size[0], row.workgroup_size[1], row.workgroup_size[2], row.local_memory_bytes};
  }

  // Entry points without attributes, variants without launches of their own: text says those.
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<format::ExecutableRow>>> build_executables(
      flatbuffers::FlatBufferBuilder& builder) const {
    std::vector<flatbuffers::Offset<format::ExecutableRow>> rows;
    for (const ExecutableRow& row : executables) {
      std::vector<flatbuffers::Offset<format::EntryPointRow>> entry_points;
      for (const EntryPointRow& entry : row.entry_points) {
        const auto launch = launch_row(entry.launch.value_or(LaunchRow()));
        entry_points.push_back(format::CreateEntryPointRow(builder, builder.CreateString(entry.name), entry.constants,
                                                           builder.CreateVector(entry.bindings),
                                                           entry.launch ? &launch : nullptr));
      }
      std::vector<flatbuffers::Offset<format::VariantRow>> variants;
      for (const VariantRow& variant : row.variants) {
        variants.push_back(format::CreateVariantRow(builder, builder.CreateString(variant.format), 0, variant.rodata,
                                                    variant.condition, variant.constants));
      }
      const auto row_name = builder.CreateString(row.name);
      const auto registered = builder.CreateString(row.registered_name);
      const auto entry_vector = builder.CreateVector(entry_points);
      rows.push_back(
          format::CreateExecutableRow(builder, row_name, registered, entry_vector, builder.CreateVector(variants)));
    }
    if (rows.empty()) return 0;
    return builder.CreateVector(rows);
  }

  std::vector<std::byte> build(uint64_t rodata_begin) const {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<format::ImportRow>> import_rows;
    for (const RawImport& row : imports) {
      const auto row_name = builder.CreateString(row.name);
      import_rows.push_back(format::CreateImportRow(builder, row_name, row.signature, 0, row.optional, row.fallback));
    }
    std::vector<flatbuffers::Offset<format::ExportRow>> export_rows;
    for (const RawExport& row : exports) {
      export_rows.push_back(format::CreateExportRow(builder, builder.CreateString(row.name), row.function));
    }
    std::vector<flatbuffers::Offset<format::AttributeRow>> attribute_rows;
    for (const RawAttribute& row : attributes) {
      const auto key = builder.CreateString(row.key);
      const auto value = builder.CreateString(row.value);
      attribute_rows.push_back(format::CreateAttributeRow(builder, row.function, key, value));
    }
    std::vector<format::RodataRow> rodata_rows;
    for (const format::RodataRow& row : rodata) rodata_rows.emplace_back(row.offset() + rodata_begin, row.size());
    flatbuffers::Offset<format::DebugTable> debug_table;
    if (debug) {
      const auto function_names = builder.CreateVectorOfStrings(debug->function_names);
      const auto global_names = builder.CreateVectorOfStrings(debug->global_names);
      const auto rodata_names = builder.CreateVectorOfStrings(debug->rodata_names);
      const auto files = builder.CreateVectorOfStrings(debug->files);
      const auto locations = builder.CreateVectorOfStructs(debug->locations);
      debug_table = format::CreateDebugTable(builder, function_names, global_names, rodata_names, files, locations);
    }
    const auto module_name = builder.CreateString(name);
    const auto type_names = builder.CreateVectorOfStrings(types);
    const auto signature_texts = builder.CreateVectorOfStrings(signatures);
    const auto function_rows = builder.CreateVectorOfStructs(functions);
    const auto words = builder.CreateVector(code);
    const auto import_vector = builder.CreateVector(import_rows);
    const auto export_vector = builder.CreateVector(export_rows);
    const auto global_rows = builder.CreateVectorOfStructs(globals);
    const auto rodata_vector = builder.CreateVectorOfStructs(rodata_rows);
    const auto attribute_vector = builder.CreateVector(attribute_rows);
    const auto executable_vector = build_executables(builder);
    const auto root =
        format::CreateModule(builder, format_version, isa_version, required_features, module_name, 0, type_names,
                             signature_texts, function_rows, words, import_vector, export_vector, global_rows,
                             rodata_vector, attribute_vector, initializer, debug_table, executable_vector);
    format::FinishSizePrefixedModuleBuffer(builder, root);
    const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
    return std::vector<std::byte>(begin, begin + builder.GetSize());
  }
};

}  // namespace baton::bytecode
