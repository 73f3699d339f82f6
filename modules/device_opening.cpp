#include "modules/device_opening.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/timeline.hpp"
#include "hal/drivers/local/import_plugin.hpp"
#include "hal/timeline_observer.hpp"
#include "modules/door_checks.hpp"
#include "modules/kernel_library/device_functions.hpp"
#include "modules/sdk/kernel_library.h"

namespace baton::modules {
namespace {

namespace local = hal::drivers::local;

// The struct as it was first. What an older app leaves out is zero.
constexpr uint32_t kOptionsSizeV1 = 24;
static_assert(offsetof(baton_device_options, plugin_count) == kOptionsSizeV1);

struct OwnedExecutables {
  std::vector<std::vector<std::byte>> bytes;
  hal::ExecutableRegistry registry;
};

Status add_embedded(std::span<const baton_embedded_executable> given, hal::ExecutableRegistry& registry) {
  for (const auto& [name, kernels] : given) {
    if (!kernels) return is_null("pointer to embedded kernels");
    if (!name && !kernels->name) return is_null("name of embedded kernels");
    if (lacks(kernels->variants, kernels->variant_count)) return is_null("array of embedded kernels");
    for (const auto& [format, begin, end] : std::span(kernels->variants, kernels->variant_count)) {
      if (!begin || end < begin || lacks(format)) return is_null("code of what embeds kernels, or its format,");
    }
    BATON_TRY(registry.add(name ? name : kernels->name, *kernels));
  }
  return {};
}

Result<std::shared_ptr<const hal::ExecutableRegistry>> copy(std::span<const baton_named_executable> given,
                                                            std::span<const baton_embedded_executable> embedded) {
  auto owned = std::make_shared<OwnedExecutables>();
  for (const baton_named_executable& each : given) {
    if (!each.name) return is_null("name of an executable");
    if (!each.format) return is_null(text("format of executable '", each.name, "'"));
    if (lacks(each.data, each.size)) return is_null(text("code of executable '", each.name, "'"));
    const auto* const bytes = static_cast<const std::byte*>(each.data);
    owned->bytes.emplace_back(bytes, bytes + each.size);
    BATON_TRY(owned->registry.add(each.name, each.format, owned->bytes.back()));
  }
  BATON_TRY(add_embedded(embedded, owned->registry));
  const hal::ExecutableRegistry* const registry = &owned->registry;
  return std::shared_ptr<const hal::ExecutableRegistry>(std::move(owned), registry);
}

Status read_functions(std::string_view uri, std::span<const baton_device_functions> functions,
                      hal::drivers::DriverOptions& drivers) {
  for (const baton_device_functions& each : functions) {
    if (!each.name) return is_null("name of device functions");
    if (lacks(each.data, each.size)) return is_null("code of device functions");
    const std::span code(static_cast<const std::byte*>(each.data), static_cast<size_t>(each.size));
    BATON_TRY(check_takes_device_functions(uri, each.name, code));
    BATON_TRY(add_device_functions(each.name, code, drivers));
  }
  return {};
}

// What only kernels for local devices can have.
Status check_is_local(std::string_view uri, const baton_device_options& options) {
  if (uri.starts_with("local")) return {};
  const char* const what = options.plugin_count != 0          ? "plugins for kernels"
                           : options.import_count != 0        ? "functions of the app"
                           : options.linked_kernel_count != 0 ? "kernels that are linked into the app"
                                                              : nullptr;
  if (!what) return {};
  return failure(StatusCode::kInvalidArgument, "Device '", uri, "' takes no ", what, "; local devices do.");
}

Status read_imports(std::span<const baton_kernel_import> imports, local::Options& options) {
  if (imports.empty()) return {};
  auto symbols = std::make_shared<local::HostSymbols>();
  for (const baton_kernel_import& each : imports) {
    if (!each.name) return is_null("name of a function that kernels import");
    if (!each.function) return is_null(text("function '", each.name, "' that kernels import"));
    symbols->add(each.name, each.function, each.context);
  }
  options.imports.add(std::move(symbols));
  return {};
}

Status read_linked_kernels(std::span<const baton_linked_kernels> kernels, local::Options& options) {
  for (const baton_linked_kernels& each : kernels) {
    if (!each.name) return is_null("name of linked kernels");
    if (!each.query) return is_null(text("query function of the kernels '", each.name, "'"));
    options.libraries.push_back({each.name, each.query});
  }
  return {};
}

Status check_arrays(const baton_device_options& options) {
  if (lacks(options.functions, options.function_count)) return is_null("array of device functions");
  if (lacks(options.plugins, options.plugin_count)) return is_null("array of plugins");
  if (lacks(options.imports, options.import_count)) return is_null("array of functions that kernels import");
  if (lacks(options.linked_kernels, options.linked_kernel_count)) return is_null("array of linked kernels");
  if (lacks(options.executables, options.executable_count)) return is_null("array of executables");
  if (lacks(options.embedded, options.embedded_count)) return is_null("array of embedded kernels");
  return {};
}

}  // namespace

Result<std::vector<Ref<hal::Device>>> open_devices(const std::vector<std::string>& uris, DeviceOpening opening) {
  opening.drivers.cuda.timeline = opening.timeline;
  opening.drivers.vulkan.timeline = opening.timeline;
  for (const std::string& source : opening.executable_plugins) {
    BATON_TRY_ASSIGN(auto plugin, local::load_import_plugin_source(source));
    opening.drivers.local.imports.add(std::move(plugin));
  }
  hal::DriverRegistry registry;
  BATON_TRY(hal::drivers::register_drivers(registry, std::move(opening.drivers)));
  std::vector<Ref<hal::Device>> devices;
  for (const std::string& uri : uris) {
    BATON_TRY_ASSIGN(Ref<hal::Device> device, registry.open(uri));
    if (opening.timeline) device = hal::observe(std::move(device), *opening.timeline);
    if (opening.executables) device->set_executables(opening.executables);
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<DeviceOpening> read_device_options(std::string_view uri, const baton_device_options& options) {
  if (options.struct_size < kOptionsSizeV1) {
    return failure(StatusCode::kInvalidArgument, "The options of a device are ", options.struct_size,
                   " bytes; at least ", kOptionsSizeV1, " are known.");
  }
  baton_device_options known = {};
  std::memcpy(&known, &options, std::min<size_t>(options.struct_size, sizeof(known)));
  BATON_TRY(check_arrays(known));
  BATON_TRY(check_is_local(uri, known));
  DeviceOpening opening;
  BATON_TRY(read_functions(uri, {known.functions, known.function_count}, opening.drivers));
  for (const char* plugin : std::span(known.plugins, known.plugin_count)) {
    if (!plugin) return is_null("path of a plugin");
    opening.executable_plugins.emplace_back(plugin);
  }
  BATON_TRY(read_imports({known.imports, known.import_count}, opening.drivers.local));
  BATON_TRY(read_linked_kernels({known.linked_kernels, known.linked_kernel_count}, opening.drivers.local));
  if (known.executable_count != 0 || known.embedded_count != 0) {
    BATON_TRY_ASSIGN(opening.executables,
                     copy({known.executables, known.executable_count}, {known.embedded, known.embedded_count}));
  }
  return opening;
}

}  // namespace baton::modules
