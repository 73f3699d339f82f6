#include "hal/drivers/vulkan/linked_functions.hpp"

#include "hal/drivers/vulkan/spirv_link.hpp"
#include "hal/drivers/vulkan/spirv_module.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

bool wants_functions(std::span<const uint32_t> words) {
  bool wants = false;
  const Status read = for_each_instruction(words, [&](const SpirvInstruction& one) -> Status {
    wants = wants || (one.op == kCapability && one.size() > 1 && one[1] == kLinkage);
    return {};
  });
  return wants && read.ok();
}

struct Provider {
  const SpirvFunctions* library;
  uint32_t function;
};

// By name, of all that is registered.
Result<std::map<std::string, Provider>> providers_of(std::span<const SpirvFunctions> libraries) {
  std::map<std::string, Provider> all;
  for (const SpirvFunctions& library : libraries) {
    for (const auto& [name, function] : library.exported) {
      const auto [known, is_new] = all.try_emplace(name, Provider{&library, function});
      if (is_new) continue;
      return failure(StatusCode::kAlreadyExists, "Function '", name, "' is defined twice, by '",
                     known->second.library->path, "' and by '", library.path, "'.");
    }
  }
  return all;
}

Status link_all(SpirvLink& link, std::span<const SpirvFunctions> libraries) {
  BATON_TRY_ASSIGN(const auto providers, providers_of(libraries));
  std::string missing;
  for (const SpirvImport& import : link.imports()) {
    if (import.kind == SpirvImport::kNeeded && !providers.contains(import.name)) {
      missing += text(missing.empty() ? "'" : ", '", import.name, "'");
    }
  }
  if (!missing.empty()) {
    return failure(StatusCode::kNotFound, "The kernels import functions that nobody provides: ", missing,
                   "; device code that defines them is registered before programs are loaded.");
  }
  for (const SpirvFunctions& library : libraries) {
    std::set<uint32_t> wanted;
    for (const SpirvImport& import : link.imports()) {
      const auto found = providers.find(import.name);
      if (found != providers.end() && found->second.library == &library) wanted.insert(found->second.function);
    }
    if (!wanted.empty()) BATON_TRY_CONTEXT(link.add(library, wanted), "while linking '", library.path, "'");
  }
  for (const SpirvImport& import : link.imports()) {
    const auto found = providers.find(import.name);
    const bool is_there = found != providers.end();
    if (import.kind == SpirvImport::kQuestion) {
      link.answer(import, is_there);
    } else if (is_there) {
      BATON_TRY(link.define(import, *found->second.library, found->second.function));
    } else {
      link.leave_out(import);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::byte>> link_functions(std::span<const std::byte> code,
                                              std::span<const DeviceFunctions> functions) {
  auto words = spirv_words(code);
  // Whatever reads a broken file next reports it.
  if (!words.has_value() || !wants_functions(*words)) return std::vector<std::byte>();
  SpirvLink link;
  BATON_TRY(link.begin(*words));
  std::vector<SpirvFunctions> libraries;
  for (const DeviceFunctions& one : functions) {
    BATON_TRY_ASSIGN(libraries.emplace_back(), read_functions(one.name, one.code));
  }
  BATON_TRY(link_all(link, libraries));
  BATON_TRY_ASSIGN(const std::vector<uint32_t> linked, link.finish());
  const auto bytes = std::as_bytes(std::span(linked));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace baton::hal::drivers::vulkan
