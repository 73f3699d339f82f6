#include "hal/drivers/cuda/code_image.hpp"

#include <elf.h>

#include "base/bytes.hpp"
#include "hal/device_image.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Code = std::span<const std::byte>;

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA

Status check_cubin(Code code) {
  if (code.size() >= sizeof(Elf64_Ehdr)) {
    const auto header = load_bytes<Elf64_Ehdr>(code.data());
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda) {
      return failure(StatusCode::kInvalidArgument, "The ELF file is code for machine ", header.e_machine,
                     "; CUDA's is ", kMachineCuda, ".");
    }
  }
  return check_device_image(code);
}

}  // namespace

Status check_image(Code code) {
  switch (code_kind(code)) {
    case CodeKind::kCubin: return check_cubin(code);
    case CodeKind::kFatbin: return check_device_image(code);
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
