#include "hal/code_format.hpp"

#include <elf.h>

#include <cstring>

#include "base/bytes.hpp"
#include "hal/spirv_words.hpp"

namespace baton::hal {
namespace {

#if defined(__aarch64__)
constexpr std::string_view kHostArchitecture = "arm_64";
#else
constexpr std::string_view kHostArchitecture = "x86_64";
#endif

Status is_part(std::span<const std::byte> code, std::string_view what) {
  return failure(StatusCode::kInvalidArgument, "The ", code.size(), " bytes are ", what,
                 ": a part, and no code that a device loads; link it first.");
}

Result<std::string> tell_elf(std::span<const std::byte> code) {
  const auto machine = load_bytes<uint16_t>(code.data() + offsetof(Elf64_Ehdr, e_machine));
  const auto type = load_bytes<uint16_t>(code.data() + offsetof(Elf64_Ehdr, e_type));
  if (type == ET_REL && (machine == EM_X86_64 || machine == EM_AARCH64)) return is_part(code, "an object (.o)");
  if (machine == EM_X86_64) return std::string("embedded-elf-x86_64");
  if (machine == EM_AARCH64) return std::string("embedded-elf-arm_64");
  if (machine != kMachineCuda) {
    return failure(StatusCode::kInvalidArgument, "The ELF file is code for machine ", machine, "; known are ",
                   EM_X86_64, " (x86-64), ", EM_AARCH64, " (AArch64) and ", kMachineCuda, " (CUDA).");
  }
  const int arch = cubin_arch(code);
  return arch ? text("cuda-sm_", arch) : std::string("cuda-nvptx-fb");
}

}  // namespace

int cubin_arch(std::span<const std::byte> code) {
  if (code.size() < sizeof(Elf64_Ehdr) || load_bytes<uint32_t>(code.data()) != kElfMagic) return 0;
  const auto header = load_bytes<Elf64_Ehdr>(code.data());
  if (header.e_machine != kMachineCuda) return 0;
  // It moved up a byte with ABI version 8.
  const unsigned abi = header.e_ident[EI_ABIVERSION];
  return abi == 8   ? static_cast<int>(header.e_flags >> 8 & 0xff)
         : abi == 7 ? static_cast<int>(header.e_flags & 0xff)
                    : 0;
}

Result<std::string> tell_code_format(std::span<const std::byte> code) {
  const uint32_t magic = code.size() < sizeof(uint32_t) ? 0 : load_bytes<uint32_t>(code.data());
  if (magic == kElfMagic && code.size() >= sizeof(Elf64_Ehdr)) return tell_elf(code);
  if (magic == kFatbinMagic) return std::string("cuda-fatbin");
  if (magic == kFatElfMagic) return text("embedded-elf-", kHostArchitecture);  // Of this host, if it is in there.
  if (magic == spirv::kMagic) return std::string("vulkan-spirv-fb");
  if (magic == kLtoIrMagic) return is_part(code, "LTO-IR");
  const std::string_view as_text(reinterpret_cast<const char*>(code.data()), code.size());
  if (as_text.starts_with(kArchiveStart)) return is_part(code, "an archive (.a)");
  if (as_text.find(".version") != as_text.npos && as_text.find(".target") != as_text.npos) {
    return std::string("cuda-ptx");
  }
  return failure(StatusCode::kInvalidArgument, "The ", code.size(),
                 " bytes are no device code that is known: neither a cubin, a fatbin or PTX nor SPIR-V nor an ELF file "
                 "for the CPU",
                 magic == kElfMagic ? " (an ELF file that was cut off)." : ".");
}

Result<std::vector<std::string>> spirv_entry_points(std::span<const std::byte> code) {
  std::vector<uint32_t> words(code.size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), code.data(), words.size() * sizeof(uint32_t));
  std::vector<std::string> names;
  BATON_TRY(for_each_instruction(words, [&](const SpirvInstruction& one) -> Status {
    if (one.op != spirv::kEntryPoint || one.size() < 4 || one[1] != spirv::kGlCompute) return {};
    size_t length = 0;
    BATON_TRY_ASSIGN(std::string name, read_string(one, 3, length));
    names.push_back(std::move(name));
    return {};
  }));
  return names;
}

}  // namespace baton::hal
