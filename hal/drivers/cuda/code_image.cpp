#include "hal/drivers/cuda/code_image.hpp"

#include <elf.h>

#include "base/bytes.hpp"
#include "hal/code_format.hpp"
#include "hal/device_image.hpp"
#include "hal/drivers/cuda/required_block.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Code = std::span<const std::byte>;

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

namespace {

// What stands behind the first of these words in the head, of such letters; empty where there is none.
std::string behind(Code code, std::string_view word, std::string_view letters) {
  const std::string text = ptx_head({reinterpret_cast<const char*>(code.data()), code.size()});
  const size_t at = text.find(word);
  if (at == text.npos) return {};
  const size_t begin = text.find_first_not_of(" \t\r\n", at + word.size());
  if (begin == text.npos) return {};
  return text.substr(begin, std::min(text.find_first_not_of(letters, begin), text.size()) - begin);
}

}  // namespace

std::string ptx_version(Code code) { return behind(code, ".version", "0123456789."); }

std::string ptx_target(Code code) {
  constexpr std::string_view kStart = "sm_";
  const std::string target = behind(code, ".target", "sm_0123456789af");
  return target.starts_with(kStart) ? target.substr(kStart.size()) : std::string();
}

}  // namespace baton::hal::drivers::cuda
