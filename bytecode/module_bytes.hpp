// Owns the bytes of a module file: a mapping, or a copy in aligned memory. Nothing in it is verified.
//
// What was verified is what runs: of a file, code and tables are copied before they are read, so a process that writes
// to the file later changes nothing that the verifier proved. Large rodata stays mapped: what is written to it then
// shows in the program's constants, and where the file is cut off, reading them ends the process (SIGBUS).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.hpp"

namespace baton::bytecode {

class ModuleBytes {
 public:
  // Copies the file's code and tables and maps the rest of it, read-only. A file that changes just now is refused.
  static Result<ModuleBytes> map_file(const std::string& path);
  // Copies, to memory aligned for rodata.
  static ModuleBytes copy(std::span<const std::byte> bytes);
  // Uses the caller's memory in place; it must outlive every module made from it. Fails unless aligned to 64.
  static Result<ModuleBytes> borrow(std::span<const std::byte> bytes);

  ModuleBytes(ModuleBytes&& other) noexcept;
  ModuleBytes& operator=(ModuleBytes&& other) noexcept;
  ~ModuleBytes();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  enum class Owner { kNobody, kHeap, kMapping };
  ModuleBytes(std::span<const std::byte> bytes, Owner owner) : bytes_(bytes), owner_(owner) {}

  std::span<const std::byte> bytes_;
  Owner owner_ = Owner::kNobody;
};

}  // namespace baton::bytecode
