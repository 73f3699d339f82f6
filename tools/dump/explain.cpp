#include "tools/dump/explain.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tools/dump/disassembly.hpp"
#include "tools/dump/executables.hpp"

namespace baton::tools::dump {
namespace {

using bytecode::ImportView;
using bytecode::ModuleView;

// ---- Executables ----------------------------------------------------------------------------------------------------

const Variant* choose(const hal::Device& device, const Executable& executable, int32_t& best_rank) {
  const Variant* best = nullptr;
  for (const Variant& variant : executable.variants) {  // As Device::make_executable does: the first of the highest.
    const int32_t rank = device.match_format(variant.format).rank;
    if (rank <= best_rank) continue;
    best = &variant;
    best_rank = rank;
  }
  return best;
}

std::string why_not(const hal::Device& device, const Variant& variant, const Variant* chosen) {
  const hal::FormatMatch match = device.match_format(variant.format);
  if (match.rank < 0) return text("      not ", variant.format, ": ", match.reason, "\n");
  return text("      not ", variant.format, ": ", match.reason, ", and ", chosen->format, " fits better\n");
}

std::string load_failure(hal::Device& device, const Executable& executable) {
  std::vector<hal::ExecutableVariant> variants;
  for (const Variant& variant : executable.variants) {
    variants.push_back({.format = variant.format, .data = variant.code, .expected = variant.launches});
  }
  const auto loaded = device.make_executable({.name = executable.name, .variants = variants, .expected_by_name = true});
  if (loaded.has_value()) return "      it loads there\n";
  std::string lines = loaded.error().to_string();
  for (size_t at = 0; (at = lines.find('\n', at)) != lines.npos; at += 7) lines.replace(at, 1, "\n      ");
  return text("      it does not load there: ", lines, "\n");
}

std::string explain_on(hal::Device& device, const Executable& executable, bool load) {
  int32_t rank = -1;
  const Variant* chosen = choose(device, executable, rank);
  std::string lines = chosen ? text("    ", device.name(), " takes ", chosen->format, ": ",
                                    device.match_format(chosen->format).reason, "\n")
                             : text("    ", device.name(), " takes none of ", executable.variants.size(), "\n");
  if (chosen && !chosen->condition.empty()) lines += text("      where @", chosen->condition, " says so\n");
  if (chosen && load) lines += load_failure(device, executable);
  for (const Variant& variant : executable.variants) {
    if (&variant != chosen) lines += why_not(device, variant, chosen);
  }
  return lines;
}

std::string explain_executables(const ModuleView& module, const Surroundings& here) {
  const std::vector<Executable> executables = list_executables(module);
  std::string lines = text("executables (", executables.size(), ")\n");
  for (const Executable& one : executables) {
    lines += text("  ", one.name, describe_place(module, one.pc), "\n");
    for (const hal::EntryPoint& entry : one.launches) {
      lines += text("    launches ", entry.name, " with ", describe_launch(entry), "\n");
    }
    if (!one.registered_as.empty()) {
      lines += text("    is code of the host, which has to register it as '", one.registered_as, "'\n");
      continue;
    }
    for (const Ref<hal::Device>& device : here.devices) lines += explain_on(*device, one, here.load);
  }
  if (makes_unlisted_executables(module)) lines += "  and those that functions make without a row in the table\n";
  if (!executables.empty()) {
    for (const std::string& absent : here.absent) lines += text("  ", absent, "\n");
  }
  return lines;
}

// ---- Imports --------------------------------------------------------------------------------------------------------

const Provider* find_provider(const Surroundings& here, std::string_view name) {
  for (const Provider& provider : here.providers) {
    if (provider.module->name() == name) return &provider;
  }
  return nullptr;
}

// Why the provider does not serve this import; empty when it does.
std::string refusal(const vm::Module& provider, const ImportView& import) {
  if (provider.version() < import.minimum_version) {
    return text("version ", import.minimum_version, " is asked for, and this is version ", provider.version());
  }
  const std::optional<uint32_t> found = provider.find_export(import.function_name());
  if (!found) {
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < provider.export_count(); ++i) names.push_back(provider.export_at(i).name);
    const std::string near = nearest_names(import.function_name(), names);
    return text("it has no such function", near.empty() ? "" : "; ", near);
  }
  const std::string_view theirs = provider.export_at(*found).signature;
  if (bytecode::signatures_agree(import.signature, theirs)) return "";
  return text("there it is ", bytecode::describe_signature(theirs));
}

std::string missing_line(const ModuleView& module, const ImportView& import, const std::string& why) {
  const bool fallback = import.fallback != bytecode::kNoIndex;
  const std::string instead = !import.optional ? ""
                              : fallback
                                  ? text(" (optional: @", module.function_name(import.fallback), " runs instead)")
                                  : " (optional)";
  return text("    ", import.optional ? "absent  " : "missing ", import.name, " is ",
              bytecode::describe_signature(import.signature), why.empty() ? "" : ": ", why, instead, "\n");
}

std::string explain_module(const ModuleView& module, std::string_view name, const Surroundings& here) {
  const Provider* provider = find_provider(here, name);
  size_t wanted = 0, needed = 0, served = 0;
  std::string missing;
  for (uint32_t i = 0; i < module.import_count(); ++i) {
    const ImportView import = module.import(i);
    if (import.module_name() != name) continue;
    ++wanted;
    needed += import.optional ? 0 : 1;
    const std::string why = provider ? refusal(*provider->module, import) : "";
    if (provider && why.empty()) {
      ++served;
    } else {
      missing += missing_line(module, import, why);
    }
  }
  std::string line = text("  ", name, ": ", wanted, wanted == 1 ? " function" : " functions");
  if (!provider) {
    line += needed == 0 ? ", all optional; nobody here provides them"
                        : text("; nobody here provides ", wanted == 1 ? "it" : "them",
                               ", a --module= that calls itself '", name, "' could");
  } else {
    line +=
        served == wanted ? text(" from ", provider->origin) : text(", of which ", served, " from ", provider->origin);
  }
  return text(line, "\n", missing);
}

std::vector<std::string_view> imported_modules(const ModuleView& module) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < module.import_count(); ++i) {
    const std::string_view name = module.import(i).module_name();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string explain_imports(const ModuleView& module, const Surroundings& here) {
  std::string lines = text("imports (", module.import_count(), ")\n");
  for (const std::string_view name : imported_modules(module)) lines += explain_module(module, name, here);
  return lines;
}

// ---- Types ----------------------------------------------------------------------------------------------------------

bool provides_type(const Provider& provider, std::string_view name) {
  for (const vm::ObjectType* type : provider.module->types()) {
    if (name == type->name) return true;
  }
  return false;
}

// Only those that no module has: the others come with functions that are listed already.
std::string explain_types(const ModuleView& module, const Surroundings& here) {
  std::string lines;
  for (uint32_t i = 0; i < module.type_count(); ++i) {
    const std::string_view name = module.type(i);
    const bool known = name == "ref" || name == "blob" || name == "list" ||
                       std::any_of(here.providers.begin(), here.providers.end(),
                                   [&](const Provider& provider) { return provides_type(provider, name); });
    if (!known) lines += text("  ", name, ": nobody here provides it\n");
  }
  return lines.empty() ? lines : text("missing types\n", lines);
}

}  // namespace

std::string explain(const ModuleView& module, const Surroundings& here) {
  return explain_executables(module, here) + explain_imports(module, here) + explain_types(module, here);
}

}  // namespace baton::tools::dump
