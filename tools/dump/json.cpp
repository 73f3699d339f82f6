#include "tools/dump/json.hpp"

#include <nlohmann/json.hpp>

#include "bytecode/disassembler.hpp"
#include "bytecode/instruction_reader.hpp"
#include "tools/dump/executables.hpp"
#include "tools/dump/sections.hpp"

namespace baton::tools::dump {
namespace {

using bytecode::kNoIndex;
using bytecode::ModuleView;
using Json = nlohmann::ordered_json;

Json index_or_null(uint32_t index) { return index == kNoIndex ? Json() : Json(index); }

Json sizes_json(const ModuleView& module) {
  const Sizes sizes = sizes_of(module);
  return {{"file", sizes.file},
          {"code", sizes.code},
          {"rodata", sizes.rodata},
          {"device_code", sizes.device_code},
          {"rodata_padding", sizes.rodata_padding},
          {"tables", sizes.tables}};
}

Json imports_json(const ModuleView& module) {
  Json list = Json::array();
  for (uint32_t i = 0; i < module.import_count(); ++i) {
    const bytecode::ImportView import = module.import(i);
    list.push_back({{"name", import.name},
                    {"signature", import.signature},
                    {"minimum_version", import.minimum_version},
                    {"optional", import.optional},
                    {"fallback", index_or_null(import.fallback)}});
  }
  return list;
}

Json exports_json(const ModuleView& module) {
  Json list = Json::array();
  for (uint32_t i = 0; i < module.export_count(); ++i) {
    const bytecode::ExportView function = module.export_at(i);
    list.push_back({{"name", function.name}, {"function", function.function}});
  }
  return list;
}

Json globals_json(const ModuleView& module) {
  Json list = Json::array();
  for (uint32_t i = 0; i < module.global_count(); ++i) {
    const bytecode::GlobalView global = module.global(i);
    list.push_back({{"name", module.global_name(i)},
                    {"type", bytecode::is_ref(global.type) ? global.ref_type : value_type_name(global.type)},
                    {"mutable", global.is_mutable},
                    {"initial_bits", global.initial}});
  }
  return list;
}

Json rodata_json(const ModuleView& module) {
  Json list = Json::array();
  for (uint32_t i = 0; i < module.rodata_count(); ++i) {
    list.push_back({{"name", module.rodata_name(i)}, {"size", module.rodata(i).size()}});
  }
  return list;
}

Json attributes_json(const ModuleView& module) {
  Json list = Json::array();
  for (uint32_t i = 0; i < module.attribute_count(); ++i) {
    const bytecode::AttributeView attribute = module.attribute(i);
    list.push_back(
        {{"function", index_or_null(attribute.function)}, {"key", attribute.key}, {"value", attribute.value}});
  }
  return list;
}

Json source_json(const bytecode::SourceLocation& source) {
  return {{"file", source.file}, {"line", source.line}, {"column", source.column}};
}

// What is not said stands for what the code or the device has.
Json launch_json(const hal::EntryPoint& entry) {
  const hal::LaunchAttributes& launch = entry.launch;
  Json row = {{"name", entry.name},
              {"constants", entry.constant_count},
              {"bindings", entry.binding_count},
              {"workgroup_size", entry.workgroup_size},
              {"local_memory_bytes", entry.local_memory_bytes}};
  if (launch.has_cluster()) {
    for (const uint32_t size : launch.cluster_size) row["cluster_size"].push_back(size == 0 ? 1 : size);
  }
  if (launch.cooperative) row["cooperative"] = true;
  if (launch.early) row["early"] = true;
  if (launch.priority) row["priority"] = launch.priority;
  if (launch.local_memory_carveout_percent) {
    row["local_memory_carveout_percent"] = *launch.local_memory_carveout_percent;
  }
  if (launch.subgroup_size) row["subgroup_size"] = launch.subgroup_size;
  for (const uint32_t place : entry.binding_places) row["binding_parameters"].push_back(place);
  return row;
}

Json executables_json(const ModuleView& module) {
  Json list = Json::array();
  for (const Executable& one : list_executables(module)) {
    Json variants = Json::array();
    for (const Variant& variant : one.variants) {
      variants.push_back({{"format", variant.format},
                          {"kind", code_suffix(variant)},
                          {"size", variant.code.size()},
                          {"rodata", variant.rodata}});
      if (!variant.target.empty()) variants.back()["target"] = variant.target;
      if (!variant.condition.empty()) variants.back()["condition"] = variant.condition;
      if (variant.constants != 0) variants.back()["constants"] = variant.constants;
      if (!variant.has_own_launches) continue;
      for (const hal::EntryPoint& entry : variant.launches) variants.back()["launches"].push_back(launch_json(entry));
    }
    Json entry_points = Json::array();
    for (const bytecode::EntryPointView& entry : one.entry_points) entry_points.push_back(entry.name());
    Json row = {{"name", one.name}, {"entry_points", std::move(entry_points)}, {"variants", std::move(variants)}};
    for (const hal::EntryPoint& entry : one.launches) row["launches"].push_back(launch_json(entry));
    if (!one.registered_as.empty()) row["registered_as"] = one.registered_as;
    const auto source = one.pc == kNoIndex ? std::nullopt : module.location(one.pc);
    if (source) {
      row["source"] = source_json(*source);
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json instruction_json(const ModuleView& module, uint32_t pc) {
  Json row = {{"pc", pc}, {"text", bytecode::disassemble_instruction(module, pc)}};
  if (const std::optional<bytecode::SourceLocation> source = module.location(pc)) {
    row["source"] = source_json(*source);
  }
  return row;
}

Json function_json(const ModuleView& module, uint32_t index) {
  const bytecode::FunctionView function = module.function(index);
  Json instructions = Json::array();
  for (size_t at = 0; at < function.code.size();) {
    const uint64_t* pc = &function.code[at];
    instructions.push_back(instruction_json(module, function.code_begin + static_cast<uint32_t>(at)));
    at += bytecode::instruction_words(pc, bytecode::info(bytecode::read_opcode(pc)));
  }
  return {{"name", module.function_name(index)},
          {"signature", function.signature},
          {"value_registers", function.value_registers},
          {"ref_registers", function.ref_registers},
          {"instructions", std::move(instructions)}};
}

Json functions_json(const ModuleView& module) {
  Json list = Json::array();
  for (uint32_t i = 0; i < module.function_count(); ++i) list.push_back(function_json(module, i));
  return list;
}

}  // namespace

std::string module_json(const ModuleView& module) {
  const Json json = {{"name", module.name()},
                     {"version", module.version()},
                     {"isa_version", module.isa_version()},
                     {"sizes", sizes_json(module)},
                     {"imports", imports_json(module)},
                     {"exports", exports_json(module)},
                     {"executables", executables_json(module)},
                     {"globals", globals_json(module)},
                     {"rodata", rodata_json(module)},
                     {"attributes", attributes_json(module)},
                     {"initializer", index_or_null(module.initializer())},
                     {"functions", functions_json(module)}};
  // Names are bytes to us; one that is not UTF-8 is shown with replacement marks.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace baton::tools::dump
