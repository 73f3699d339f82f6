// elf_loader: makes a freestanding ELF file in memory run, without the system's loader and without temporary files.
//
// The flow: parse and check (elf_file.hpp), reserve the image, copy the segments, relocate while nothing is executable,
// then give each page its final protection. No page is ever writable and executable. Nothing outside of the file is
// looked up: what code needs from the host comes through imports (kernel_imports.hpp).
#pragma once

#include "hal/drivers/local/elf_file.hpp"
#include "hal/drivers/local/executable.hpp"

namespace baton::hal::drivers::local {

// Loaded code.
// Threads: immutable.
class ElfImage final : public CodeImage {
 public:
  // `bytes` are not needed afterwards.
  static Result<Ref<ElfImage>> load(std::span<const std::byte> bytes);
  ~ElfImage() override;

  // The address of an exported function, or null.
  void* find_function(std::string_view name) const;

  bool holds(const void* address, uint64_t size) const override { return segment_at(address, size) != nullptr; }
  bool holds_text(const char* text) const override;
  bool holds_code(const void* address) const override;

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  ElfImage(std::byte* base, ElfFile file) : base_(base), file_(std::move(file)) {}

  const ElfSegment* segment_at(const void* address, uint64_t size) const;
  std::span<std::byte> image() const { return {base_, static_cast<size_t>(file_.image_size)}; }
  Status relocate();
  Status apply(const Elf64_Rela& relocation, const DynamicTable& table, std::string& missing);
  Status apply_packed(std::span<const uint64_t> words);
  Status check_place(uint64_t address) const;
  Status protect();

  std::byte* base_;
  ElfFile file_;
};

}  // namespace baton::hal::drivers::local
