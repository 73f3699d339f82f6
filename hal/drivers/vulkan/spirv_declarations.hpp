// SpirvDeclarations: what stands before the functions of a SPIR-V module, by id: types, constants, variables and how
// they are decorated.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "hal/drivers/vulkan/spirv_arithmetic.hpp"
#include "hal/spirv_words.hpp"

namespace baton::hal::drivers::vulkan {

// A specialization constant; two of the same number have the same size.
struct SpirvSpecialized {
  uint32_t id = 0;  // Its number, by which it is given.
  uint32_t bytes = 4;
  bool operator==(const SpirvSpecialized&) const = default;
};

// A member of a struct.
struct SpirvMember {
  uint32_t place = 0;  // Its first byte.
  uint32_t bytes = 0;  // 0: an array without end.
  bool is_address = false;
};

struct SpirvVariable {
  uint32_t type = 0;  // A pointer.
  uint32_t storage_class = 0;
};

class SpirvDeclarations {
 public:
  SpirvDeclarations(uint32_t bound, std::span<const uint32_t> specialization)
      : bound_(bound), specialization_(specialization) {}

  // Remembers what it declares; instructions that declare nothing of interest are left alone.
  Status add(const SpirvInstruction& instruction);

  // Types whose size has no end or is above kBytesMax, and what is no type, have none.
  static constexpr uint64_t kBytesMax = uint64_t{1} << 40;
  Result<uint64_t> type_bytes(uint32_t type) const;
  // Of a struct, by their places.
  Result<std::vector<SpirvMember>> members(uint32_t type) const;
  // What a struct ends with where that is an array without end: the bytes from one element to the next; else 0.
  uint32_t open_stride(uint32_t type) const;
  // The value of an integer constant, specialization applied, and what others are made of by arithmetic.
  Result<uint64_t> integer(uint32_t constant) const;
  // Three words: of the constant that is decorated as the size of the workgroup, if there is one.
  bool has_workgroup_size() const { return workgroup_size_ != 0; }
  Status read_workgroup_size(uint32_t (&size)[3]) const;

  const std::map<uint32_t, SpirvVariable>& variables() const { return variables_; }
  // What the pointer type points to.
  Result<uint32_t> pointee(uint32_t pointer) const;
  // The instruction that made a type or a constant; null: there is none.
  const SpirvInstruction* declared(uint32_t id) const;
  // The value of a decoration; null: it is not decorated so.
  const uint32_t* decoration(uint32_t id, uint32_t decoration) const;
  // In the order of their numbers.
  Result<std::vector<SpirvSpecialized>> specialized() const;

  // An id that is defined here.
  Status check_new(const SpirvInstruction& by, uint32_t id);
  // An id that is used.
  Status check_id(const SpirvInstruction& by, uint32_t id) const;

 private:
  struct Member {
    uint32_t type;
    uint32_t member;
    bool operator<(const Member& other) const { return type != other.type ? type < other.type : member < other.member; }
  };

  Status decorate(const SpirvInstruction& instruction);
  Status note(const SpirvInstruction& by, uint32_t target, uint32_t decoration, uint32_t value);
  Status note_member(const SpirvInstruction& by, const Member& member, uint32_t decoration, uint32_t value);
  Status decorate_group(const SpirvInstruction& instruction);
  void note_constant(const SpirvInstruction& instruction);
  void note_composite(const SpirvInstruction& instruction);
  void note_made(const SpirvInstruction& instruction);
  uint32_t scalar_width(uint32_t type) const;
  Status declare(const SpirvInstruction& instruction, size_t result, size_t words_min);
  // Of a type, and how matrices lie in it: its member's decorations say so, for arrays of them too.
  struct Rows {
    uint32_t stride = 0;  // 0: they lie as they come.
    bool row_major = false;
  };
  Result<uint64_t> type_bytes(uint32_t type, const Rows& rows, int depth) const;
  Result<uint64_t> struct_bytes(const SpirvInstruction& made, int depth) const;
  Result<uint64_t> member_bytes(const SpirvInstruction& made, uint32_t member, int depth) const;
  Result<uint64_t> array_bytes(const SpirvInstruction& made, const Rows& rows, int depth) const;

  const uint32_t bound_;
  const std::span<const uint32_t> specialization_;
  std::unordered_map<uint32_t, SpirvInstruction> declared_;
  std::unordered_map<uint32_t, SpirvValue> values_;  // Of constants that are integers, bools, or vectors of them.
  std::map<uint32_t, SpirvVariable> variables_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> decorations_;  // {id, decoration} → its first word, or 0.
  std::map<Member, uint32_t> member_offsets_;
  std::map<Member, Rows> matrices_;
  mutable std::unordered_map<uint32_t, uint64_t> struct_bytes_;
  std::vector<bool> defined_;
  uint32_t workgroup_size_ = 0;
};

}  // namespace baton::hal::drivers::vulkan
