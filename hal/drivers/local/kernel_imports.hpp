// KernelImports: where the functions come from that kernels import: symbols of the host app, and plugins.
//
// The library that was added last is asked first. A name that begins with '?' is optional: its pointer stays null when
// nobody has it, and the kernel takes its fallback. All names that are missing are told in one message.
// Threads: externally synchronized while providers are added, immutable afterwards.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

// The names are sorted, as the library lists them. Slots that an earlier provider filled are left alone.
struct ImportRequest {
  std::span<const char* const> names;
  std::span<baton_import_function> functions;
  std::span<void*> contexts;
};

class ImportProvider {
 public:
  virtual ~ImportProvider() = default;
  virtual std::string_view name() const = 0;
  // Fills what it has. Missing names are no failure of its own.
  virtual Status resolve(const ImportRequest& request) = 0;
};

// Functions of the host app by name.
class HostSymbols final : public ImportProvider {
 public:
  std::string_view name() const override { return "host symbols"; }
  Status resolve(const ImportRequest& request) override;
  // A later function of the same name replaces the earlier.
  void add(std::string_view symbol, baton_import_function function, void* context = nullptr);

 private:
  struct Symbol {
    std::string name;
    baton_import_function function;
    void* context;
  };
  std::vector<Symbol> symbols_;  // Sorted by name.
};

class KernelImports {
 public:
  void add(std::shared_ptr<ImportProvider> provider) { providers_.push_back(std::move(provider)); }

  // Beyond this call every function that is not optional is there.
  Status resolve(const ImportRequest& request) const;

 private:
  std::vector<std::shared_ptr<ImportProvider>> providers_;
};

// The name without the mark of an optional import.
std::string_view import_symbol(const char* name);
inline bool import_is_optional(const char* name) { return name[0] == '?'; }

}  // namespace baton::hal::drivers::local
