// Import plugins: libraries outside of the app that give functions to kernels (executable_plugin.h).
#pragma once

#include <span>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "hal/drivers/local/kernel_imports.hpp"

namespace baton::hal::drivers::local {

using PluginParameter = std::pair<std::string_view, std::string_view>;

// Opens and loads the plugin at `path`: a file that ends in .sos, or a path behind "embedded:", goes to Baton's own
// loader (fat or thin), everything else to the system's.
Result<std::shared_ptr<ImportProvider>> load_import_plugin(std::string_view path,
                                                           std::span<const PluginParameter> parameters = {});
// The same for "path?key=value&key=value", as command lines and apps write it.
Result<std::shared_ptr<ImportProvider>> load_import_plugin_source(std::string_view source);
// The same for a freestanding file in memory.
Result<std::shared_ptr<ImportProvider>> load_embedded_import_plugin(std::span<const std::byte> bytes,
                                                                    std::string_view name,
                                                                    std::span<const PluginParameter> parameters = {});

}  // namespace baton::hal::drivers::local
