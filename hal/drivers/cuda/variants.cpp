#include "hal/drivers/cuda/variants.hpp"

#include "base/bytes.hpp"
#include "hal/code_format.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr int32_t kExact = 1000, kSameFamily = 800, kFatbin = 600, kPtxFor = 200, kPtx = 100;

// "sm_90a" → 90 and 'a'; arch 0 when it is none.
struct Arch {
  int number = 0;
  char suffix = 0;
};
Arch parse_arch(std::string_view text) {
  Arch arch;
  size_t at = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at < 4)
    arch.number = 10 * arch.number + (text[at++] - '0');
  if (at == 0) return {};
  if (at < text.size()) arch.suffix = text[at++];
  return at == text.size() ? arch : Arch{};
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

FormatMatch match_machine_code(int device, Arch code) {
  if (code.number == device) return {kExact + (code.suffix ? 1 : 0), "machine code for this architecture"};
  if (code.suffix) {
    return {-1, text("is machine code for sm_", code.number, code.suffix, " alone; the device is sm_", device)};
  }
  if (code.number / 10 == device / 10 && code.number < device) {
    return {kSameFamily + code.number % 10, "machine code for an older member of this family"};
  }
  return {-1, text("is machine code for sm_", code.number, "; the device is sm_", device)};
}

FormatMatch match_ptx(int device, Arch code) {
  if (code.suffix && code.number != device) {
    return {-1, text("is PTX for compute_", code.number, code.suffix, " alone; the device is sm_", device)};
  }
  if (code.number > device) {
    return {-1, text("is PTX that needs compute_", code.number, "; the device is sm_", device)};
  }
  return {kPtxFor + code.number, "PTX, compiled by the driver"};
}

}  // namespace

FormatMatch match_format(int arch, std::string_view format) {
  std::string_view rest = format;
  const bool cuda = consume(rest, "cuda-");
  if (cuda && rest == "nvptx-fb") return {kPtx, "PTX or machine code, told by its first bytes"};
  if (rest == "ptx") return {kPtx, "PTX, compiled by the driver"};
  if (rest == "fatbin") return {kFatbin, "the driver picks what fits"};
  if (consume(rest, "ptx-compute_") || consume(rest, "ptx-sm_")) {
    if (const Arch code = parse_arch(rest); code.number) return match_ptx(arch, code);
  } else if ((cuda && consume(rest, "sm_")) || consume(rest, "cubin-sm_")) {
    if (const Arch code = parse_arch(rest); code.number) return match_machine_code(arch, code);
  }
  return {-1, "is no format of CUDA code (cuda-sm_NN, cuda-fatbin, cuda-ptx, cuda-ptx-compute_NN)"};
}

CodeKind code_kind(std::span<const std::byte> code) {
  if (code.size() < 4) return CodeKind::kPtx;
  const auto magic = load_bytes<uint32_t>(code.data());
  return magic == kElfMagic ? CodeKind::kCubin : magic == kFatbinMagic ? CodeKind::kFatbin : CodeKind::kPtx;
}

std::string_view code_kind_name(CodeKind kind) {
  return kind == CodeKind::kCubin ? "cubin" : kind == CodeKind::kFatbin ? "fatbin" : "PTX";
}

}  // namespace baton::hal::drivers::cuda
