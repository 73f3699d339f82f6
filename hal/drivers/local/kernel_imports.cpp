#include "hal/drivers/local/kernel_imports.hpp"

#include <algorithm>

namespace baton::hal::drivers::local {
namespace {

constexpr auto kByName = [](const auto& symbol, std::string_view name) { return symbol.name < name; };

}  // namespace

std::string_view import_symbol(const char* name) {
  return std::string_view(name).substr(import_is_optional(name) ? 1 : 0);
}

void HostSymbols::add(std::string_view symbol, baton_import_function function, void* context) {
  const auto at = std::lower_bound(symbols_.begin(), symbols_.end(), symbol, kByName);
  if (at != symbols_.end() && at->name == symbol) {
    *at = {std::string(symbol), function, context};
  } else {
    symbols_.insert(at, {std::string(symbol), function, context});
  }
}

Status HostSymbols::resolve(const ImportRequest& request) {
  for (size_t i = 0; i < request.names.size(); ++i) {
    if (request.functions[i]) continue;
    const std::string_view wanted = import_symbol(request.names[i]);
    const auto found = std::lower_bound(symbols_.begin(), symbols_.end(), wanted, kByName);
    if (found == symbols_.end() || found->name != wanted) continue;
    request.functions[i] = found->function;
    request.contexts[i] = found->context;
  }
  return {};
}

Status KernelImports::resolve(const ImportRequest& request) const {
  for (auto provider = providers_.rbegin(); provider != providers_.rend(); ++provider) {
    BATON_TRY_CONTEXT((*provider)->resolve(request), "while asking ", (*provider)->name(), " for imports of kernels");
  }
  std::string missing;
  for (size_t i = 0; i < request.names.size(); ++i) {
    if (request.functions[i] || import_is_optional(request.names[i])) continue;
    missing += text("\n  '", request.names[i], "'");
  }
  if (missing.empty()) return {};
  std::string asked;
  for (const auto& provider : providers_) asked += text(asked.empty() ? "" : ", ", provider->name());
  return failure(StatusCode::kNotFound,
                 "Kernels import functions that nobody provides (asked: ", asked.empty() ? "nobody" : asked,
                 "):", missing);
}

}  // namespace baton::hal::drivers::local
