// NativeModule: a vm::Module over the descriptor that came through the door (modules/sdk/module.h), from a plugin or
// from code compiled into the app.
//
// A descriptor is untrusted input until make() has looked at it; each fault is a sentence with the module's name.
// Beyond make() its names, signatures and bodies are taken as they are.
// Threads: immutable.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "modules/sdk/module.h"
#include "vm/module.hpp"

namespace baton::modules {

struct CommandExport;

// A `key=value` for a module.
struct Parameter {
  std::string key;
  std::string value;
};

class NativeModule final : public vm::Module {
 public:
  // Takes over the descriptor: its destroy() is called when the module goes, or when it is found wrong (unless its
  // version or sizes are, for then nothing in it can be trusted).
  static Result<Ref<const vm::Module>> make(const baton_module_descriptor* descriptor);
  // Asks a query function compiled into the app. `what` names it in messages.
  static Result<Ref<const vm::Module>> make(baton_module_query query, std::span<const Parameter> parameters = {},
                                            std::string_view what = "query function");

  std::string_view name() const override { return descriptor_.name; }
  uint32_t version() const override { return descriptor_.version; }
  uint32_t export_count() const override { return static_cast<uint32_t>(descriptor_.export_count); }
  Export export_at(uint32_t index) const override;
  std::optional<uint32_t> find_export(std::string_view name) const override;
  std::span<const vm::ObjectType* const> types() const override;
  vm::NativeFunction native_function(uint32_t export_index) const override;
  Result<void*> make_state(const Allocator& allocator) const override;
  void destroy_state(void* state) const override;

 private:
  explicit NativeModule(const baton_module_descriptor& descriptor);
  ~NativeModule() override;

  const baton_export& at(uint32_t index) const;
  Status check_functions();  // and sorts them
  Status check_types() const;
  Status gather_commands();
  // Whether its state stands inside a PreparingState.
  bool prepares() const { return commands_ && descriptor_.prepare; }
  Status create_state(const Allocator& allocator, void** out_state) const;

  static constexpr uint32_t kNoCommand = ~uint32_t{0};

  baton_module_descriptor descriptor_;
  std::unique_ptr<uint32_t[]> by_name_;  // export indices
  // The custom commands, and by export index which one it is; null in a module without.
  std::unique_ptr<CommandExport[]> commands_;
  std::unique_ptr<uint32_t[]> command_of_;
};

}  // namespace baton::modules
