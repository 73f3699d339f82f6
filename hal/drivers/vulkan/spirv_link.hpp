// SpirvLink: kernels with the functions of libraries in them.
//
// The kernels keep their ids, so that nothing of them has to be understood. What a library brings gets new ones behind
// theirs; types of which a module may have only one are the kernels' own where they have them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hal/drivers/vulkan/spirv_functions.hpp"

namespace baton::hal::drivers::vulkan {

// What kernels declare and others define.
struct SpirvImport {
  enum Kind { kNeeded, kOptional, kQuestion };
  Kind kind = kNeeded;
  std::string name;
  uint32_t id = 0, type = 0;  // Of the function, and its type.
  uint32_t result = 0;        // Types.
  std::vector<uint32_t> parameters = {};
};

// begin(), add() for each library, each import settled once, finish().
class SpirvLink {
 public:
  Status begin(std::span<const uint32_t> kernels);
  const std::vector<SpirvImport>& imports() const { return imports_; }

  // The functions of the library (its ids), and what they call.
  Status add(const SpirvFunctions& library, const std::set<uint32_t>& wanted);

  Status define(const SpirvImport& import, const SpirvFunctions& library, uint32_t function);
  void answer(const SpirvImport& import, bool is_there);
  void leave_out(const SpirvImport& import);

  Result<std::vector<uint32_t>> finish() const;

 private:
  using Words = std::vector<uint32_t>;
  // What a library's ids are here.
  struct Mapping {
    std::set<uint32_t> kept;
    std::unordered_map<uint32_t, uint32_t> ids;
    std::unordered_map<uint32_t, uint32_t> types;   // Of values.
    std::unordered_map<uint32_t, uint32_t> widths;  // Of types of integers.
  };

  Status read(const SpirvInstruction& one);
  Status read_decoration(const SpirvInstruction& one);
  void read_function_part(const SpirvInstruction& one);
  static void append(Words& words, uint32_t op, std::span<const uint32_t> operands);
  uint32_t new_id() { return bound_++; }

  Status take_settings(const SpirvFunctions& library);
  Result<std::set<uint32_t>> reached(const SpirvFunctions& library, const std::set<uint32_t>& wanted) const;
  static Status note_ids(const SpirvInstruction& one, Mapping& mapping);
  Result<uint32_t> map(uint32_t id, const SpirvFunctions& library, Mapping& mapping);
  Status map_declaration(const SpirvInstruction& one, const SpirvFunctions& library, Mapping& mapping);
  Status map_decorations(const SpirvFunctions& library, Mapping& mapping);
  Result<Words> mapped(const SpirvInstruction& one, const SpirvFunctions& library, Mapping& mapping);

  enum class Passing { kNone, kSame, kBits, kPointer };
  Passing passing(uint32_t ours, uint32_t theirs) const;
  std::string type_text(uint32_t type, int depth = 0) const;
  std::string function_text(uint32_t result, std::span<const uint32_t> parameters) const;
  void begin_function(const SpirvImport& import, std::vector<uint32_t>& parameters);
  void return_value(uint32_t value);
  uint32_t passed(uint32_t value, uint32_t ours, uint32_t theirs);

  uint32_t version_ = 0, bound_ = 1, addressing_ = 0, memory_model_ = 0;
  std::set<uint32_t> capabilities_;
  std::set<std::string> extensions_;
  std::map<std::string, uint32_t> instruction_sets_;
  Words preamble_, decorations_, declarations_, functions_;
  std::map<uint32_t, Words> types_;   // By id: the opcode, then the operands.
  std::map<Words, uint32_t> unique_;  // Of the types of which there is one.
  std::map<uint32_t, std::string> imported_;
  std::vector<SpirvImport> imports_;
  bool is_in_function_ = false, is_import_ = false;
  std::map<const SpirvFunctions*, Mapping> mappings_;
};

}  // namespace baton::hal::drivers::vulkan
