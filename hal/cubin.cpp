#include "hal/cubin.hpp"

#include <elf.h>

#include "base/bytes.hpp"
#include "hal/code_format.hpp"

namespace baton::hal {
namespace {

using Code = std::span<const std::byte>;

constexpr std::string_view kInfoPrefix = ".nv.info.";

// Attributes of a kernel (.nv.info.<kernel>): form, number, and a value of 16 bits or that many bytes behind it.
constexpr uint8_t kFormSized = 4;
constexpr uint8_t kParameterInfo = 0x17, kBlockRequired = 0x10;
constexpr size_t kParameterBytes = 16;  // The facts that are stated of a kernel.

Status cut_off(Code code, std::string_view what) {
  return failure(StatusCode::kDataLoss, "The cubin has ", code.size(), " bytes, and its ", what,
                 " would end behind them.");
}

Result<Code> part(Code code, uint64_t begin, uint64_t length, std::string_view what) {
  if (begin > code.size() || length > code.size() - begin) return cut_off(code, what);
  return code.subspan(static_cast<size_t>(begin), static_cast<size_t>(length));
}

// One parameter of `count` at most: index, ordinal and offset, and the size in the high bits of flags.
Status read_parameter(Code value, size_t count, CubinKernel& kernel) {
  if (value.size() < 12)
    return failure(StatusCode::kDataLoss, "A parameter of kernel '", kernel.name, "' has no size.");
  const size_t ordinal = load_bytes<uint16_t>(value.data() + 4);
  if (ordinal >= count) {
    return failure(StatusCode::kDataLoss, "Kernel '", kernel.name, "' has a parameter ", ordinal,
                   ", and room to tell of ", count, ".");
  }
  if (kernel.parameters.size() <= ordinal) kernel.parameters.resize(ordinal + 1);
  kernel.parameters[ordinal] = {load_bytes<uint16_t>(value.data() + 6), load_bytes<uint32_t>(value.data() + 8) >> 18};
  return {};
}

Status read_info(Code info, CubinKernel& kernel) {
  for (size_t at = 0; at + 4 <= info.size();) {
    const auto form = static_cast<uint8_t>(info[at]), number = static_cast<uint8_t>(info[at + 1]);
    const auto size = load_bytes<uint16_t>(info.data() + at + 2);
    at += 4;
    if (form != kFormSized) continue;  // The 16 bits are the value.
    BATON_TRY_ASSIGN(const Code value, part(info, at, size, text("attributes of kernel '", kernel.name, "'")));
    at += size;
    if (number == kParameterInfo) BATON_TRY(read_parameter(value, info.size() / kParameterBytes, kernel));
    if (number == kBlockRequired && value.size() >= 12) {
      for (size_t axis = 0; axis < 3; ++axis) {
        kernel.block_required[axis] = load_bytes<uint32_t>(value.data() + 4 * axis);
      }
    }
  }
  return {};
}

// What names begin with is read of all sections, how far they go only of those that tell of a kernel.
Result<std::string_view> rest_of_names(std::string_view names, uint32_t at) {
  if (at < names.size() && names.back() == '\0') return names.substr(at);
  return failure(StatusCode::kDataLoss, "The cubin has a section without a name.");
}

}  // namespace

Result<Cubin> read_cubin(Code code) {
  if (code.size() < sizeof(Elf64_Ehdr)) return cut_off(code, "first words");
  const auto header = load_bytes<Elf64_Ehdr>(code.data());
  const bool elf = load_bytes<uint32_t>(code.data()) == kElfMagic;
  if (!elf || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda) {
    return failure(StatusCode::kInvalidArgument, "The ", code.size(), " bytes are no cubin.");
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) {
    return failure(StatusCode::kDataLoss, "The cubin has no table of sections.");
  }
  BATON_TRY_ASSIGN(const Code table,
                   part(code, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "sections"));
  const auto section = [&](size_t index) { return load_bytes<Elf64_Shdr>(table.data() + index * sizeof(Elf64_Shdr)); };
  const Elf64_Shdr naming = section(header.e_shstrndx);
  BATON_TRY_ASSIGN(const Code name_bytes, part(code, naming.sh_offset, naming.sh_size, "names"));
  const std::string_view names(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
  // A driver reads as far as the tables say.
  BATON_TRY_ASSIGN(const Code segments,
                   part(code, header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), "segments"));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    const auto one = load_bytes<Elf64_Phdr>(segments.data() + i * sizeof(Elf64_Phdr));
    BATON_TRY_ASSIGN([[maybe_unused]] const Code inside, part(code, one.p_offset, one.p_filesz, "segments"));
  }
  Cubin cubin{.arch = cubin_arch(code), .kernels = {}};
  uint64_t told = 0;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    BATON_TRY_ASSIGN(const std::string_view rest, rest_of_names(names, one.sh_name));
    if (one.sh_type == SHT_NOBITS) continue;
    BATON_TRY_ASSIGN(const Code info, part(code, one.sh_offset, one.sh_size, "sections' contents"));
    if (!rest.starts_with(kInfoPrefix) || rest[kInfoPrefix.size()] == '\0') continue;
    CubinKernel kernel;
    kernel.name = rest.substr(kInfoPrefix.size(), rest.find('\0') - kInfoPrefix.size());
    // Sections that lie over each other could tell of more kernels than there is memory for.
    told += kernel.name.size() + info.size();
    if (told > code.size()) {
      return failure(StatusCode::kDataLoss, "The cubin has ", code.size(), " bytes, and what it tells of ",
                     cubin.kernels.size() + 1, " kernels has ", told, ": it lies over each other.");
    }
    BATON_TRY(read_info(info, kernel));
    cubin.kernels.push_back(std::move(kernel));
  }
  return cubin;
}

}  // namespace baton::hal
