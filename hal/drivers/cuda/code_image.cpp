#include "hal/drivers/cuda/code_image.hpp"

#include <elf.h>

#include "base/bytes.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Code = std::span<const std::byte>;

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA

struct FatbinHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  // Behind the header.
};

Status cut_off(std::string_view kind, Code code, std::string_view what, uint64_t begin, uint64_t length) {
  return failure(StatusCode::kDataLoss, "The ", kind, " has ", code.size(), " bytes; its ", what, " are ", length,
                 " bytes from ", begin, " on.");
}

bool inside(Code code, uint64_t begin, uint64_t length) {
  return begin <= code.size() && length <= code.size() - begin;
}

Status check_sections(Code code, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = load_bytes<Elf64_Shdr>(code.data() + header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NOBITS || inside(code, section.sh_offset, section.sh_size)) continue;
    return cut_off("cubin", code, text("contents of section ", i), section.sh_offset, section.sh_size);
  }
  return {};
}

Status check_segments(Code code, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = load_bytes<Elf64_Phdr>(code.data() + header.e_phoff + i * sizeof(Elf64_Phdr));
    if (inside(code, segment.p_offset, segment.p_filesz)) continue;
    return cut_off("cubin", code, text("contents of segment ", i), segment.p_offset, segment.p_filesz);
  }
  return {};
}

Status check_cubin(Code code) {
  if (code.size() < sizeof(Elf64_Ehdr)) return cut_off("cubin", code, "first words", 0, sizeof(Elf64_Ehdr));
  const auto header = load_bytes<Elf64_Ehdr>(code.data());
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda) {
    return failure(StatusCode::kInvalidArgument, "The ELF file is code for machine ", header.e_machine, "; CUDA's is ",
                   kMachineCuda, ".");
  }
  // Tables may be absent, but not of rows of another size.
  if ((header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) ||
      (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr))) {
    return failure(StatusCode::kDataLoss, "The cubin has sections of ", header.e_shentsize, " bytes and segments of ",
                   header.e_phentsize, "; they have ", sizeof(Elf64_Shdr), " and ", sizeof(Elf64_Phdr), ".");
  }
  const uint64_t sections = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (!inside(code, header.e_shoff, sections)) return cut_off("cubin", code, "sections", header.e_shoff, sections);
  const uint64_t segments = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!inside(code, header.e_phoff, segments)) return cut_off("cubin", code, "segments", header.e_phoff, segments);
  BATON_TRY(check_sections(code, header));
  return check_segments(code, header);
}

Status check_fatbin(Code code) {
  if (code.size() < sizeof(FatbinHeader)) return cut_off("fatbin", code, "first words", 0, sizeof(FatbinHeader));
  const auto header = load_bytes<FatbinHeader>(code.data());
  if (header.header_bytes < sizeof(FatbinHeader) || !inside(code, header.header_bytes, header.bytes)) {
    return cut_off("fatbin", code, "contents", header.header_bytes, header.bytes);
  }
  return {};
}

}  // namespace

Status check_image(Code code) {
  switch (code_kind(code)) {
    case CodeKind::kCubin: return check_cubin(code);
    case CodeKind::kFatbin: return check_fatbin(code);
    case CodeKind::kPtx: break;
  }
  return {};
}

std::string_view ptx_version(Code code) {
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  constexpr std::string_view kWord = ".version";
  const size_t at = text.find(kWord);
  if (at == text.npos) return {};
  const size_t begin = text.find_first_not_of(" \t", at + kWord.size());
  if (begin == text.npos) return {};
  return text.substr(begin, std::min(text.find_first_not_of("0123456789.", begin), text.size()) - begin);
}

}  // namespace baton::hal::drivers::cuda
