// Functions, imports, exports, constants, executables → the bytes of a .bvm file. Same calls, same bytes.
//
// Types, signatures and (on request) rodata are interned. The builder checks only what it needs to write a file;
// whether the file is a good module is the verifier's question. Used by the assembler and by the compiler.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bytecode/executable_row.hpp"
#include "bytecode/module_view.hpp"

namespace baton::bytecode {

class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::string_view name) : name_(name) {}

  void set_version(uint32_t version) { version_ = version; }
  uint32_t add_type(std::string_view name);            // interned; index
  uint32_t add_signature(std::string_view signature);  // interned; index

  struct Import {
    std::string name;
    std::string signature;
    uint32_t minimum_version = 0;
    bool optional = false;
    uint32_t fallback = kNoIndex;
  };
  uint32_t add_import(Import import);

  struct Global {
    std::string name;
    ValueType type = ValueType::kI32;
    std::string ref_type = {};  // of a reference; empty: any
    bool is_mutable = true;
    uint64_t initial = 0;
  };
  uint32_t add_global(Global global);

  // `share`: return an equal earlier segment instead of adding one.
  uint32_t add_rodata(std::string_view name, std::span<const std::byte> bytes, bool share);

  // Functions are declared first, so that calls can name them in any order, and defined later.
  uint32_t declare_function(std::string_view name, std::string_view signature);
  struct Location {
    uint32_t pc;  // word index in this function's code
    std::string file;
    uint32_t line;
    uint32_t column;
  };
  void define_function(uint32_t function, std::vector<uint64_t> code, uint16_t value_registers, uint16_t ref_registers,
                       std::vector<Location> locations = {});
  // The tables so far, in the order of their indices.
  const std::vector<std::string>& types() const { return types_.names; }
  const std::vector<std::string>& signatures() const { return signatures_.names; }
  uint32_t function_count() const { return static_cast<uint32_t>(functions_.size()); }

  uint32_t add_executable(ExecutableRow row);
  void add_export(std::string_view name, uint32_t function);
  void set_initializer(uint32_t function) { initializer_ = function; }
  void add_attribute(uint32_t function_or_none, std::string_view key, std::string_view value);
  void strip_debug() { debug_ = false; }

  // Fails when a declared function was never defined, a name stands twice among the exports, or a limit is exceeded.
  Result<std::vector<std::byte>> finish() const;

 private:
  struct Function {
    std::string name;
    uint32_t signature;
    uint16_t value_registers = 0;
    uint16_t ref_registers = 0;
    bool defined = false;
    std::vector<uint64_t> code;
    std::vector<Location> locations;
  };
  struct Rodata {
    std::string name;
    std::vector<std::byte> bytes;
  };
  struct Attribute {
    uint32_t function;
    std::string key;
    std::string value;
  };

  // Names by index and indices by name.
  struct InternTable {
    std::vector<std::string> names;
    std::map<std::string, uint32_t, std::less<>> indices;
    uint32_t add(std::string_view name);
    uint32_t index(std::string_view name) const { return indices.find(name)->second; }
  };
  class Serializer;  // lists → the tables of module.fbs
  Status check() const;

  std::string name_;
  uint32_t version_ = 0;
  bool debug_ = true;
  InternTable types_;
  InternTable signatures_;
  std::vector<Import> imports_;
  std::vector<Global> globals_;
  std::vector<Rodata> rodata_;
  std::vector<Function> functions_;
  std::map<std::string, uint32_t> exports_;
  std::vector<std::string> repeated_exports_;
  std::vector<Attribute> attributes_;
  std::vector<ExecutableRow> executables_;
  uint32_t initializer_ = kNoIndex;
};

}  // namespace baton::bytecode
