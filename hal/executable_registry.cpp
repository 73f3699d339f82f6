#include "hal/executable_registry.hpp"

namespace baton::hal {

Status ExecutableRegistry::add(std::string_view name, std::string_view format, std::span<const std::byte> data) {
  const ExecutableVariant variant = {format, data};
  return add(name, {&variant, 1});
}

Status ExecutableRegistry::add(std::string_view name, std::span<const ExecutableVariant> variants) {
  std::lock_guard lock(mutex_);
  const auto known = executables_.find(name);
  std::vector<Variant> all = known == executables_.end() ? std::vector<Variant>() : known->second;
  for (const ExecutableVariant& added : variants) {
    for (const Variant& other : all) {
      if (other.format != added.format) continue;
      return failure(StatusCode::kAlreadyExists, "Executable '", name, "' has a variant of format '", added.format,
                     "' already.");
    }
    all.push_back({std::string(added.format), added.data});
  }
  executables_[std::string(name)] = std::move(all);
  return {};
}

Result<Ref<Executable>> ExecutableRegistry::load(Device& device, std::string_view name,
                                                 std::span<const EntryPoint> expected) const {
  std::lock_guard lock(mutex_);  // To the end: the variants are views of what is registered.
  const auto found = executables_.find(name);
  if (found == executables_.end()) {
    std::string known;
    for (const auto& [other, unused] : executables_) known += text(known.empty() ? "" : ", ", other);
    return failure(StatusCode::kNotFound, "No executable '", name,
                   "' is registered with the host; registered are: ", known.empty() ? "none" : known, ".");
  }
  std::vector<ExecutableVariant> variants;
  for (const Variant& variant : found->second) variants.push_back({variant.format, variant.data});
  return device.make_executable({.name = name, .variants = variants, .expected = expected, .expected_by_name = true});
}

}  // namespace baton::hal
