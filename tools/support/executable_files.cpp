#include "tools/support/executable_files.hpp"

#include <elf.h>

#include "base/bytes.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

constexpr uint32_t kElf = 0x464c457f, kFatElf = 0x1f0e70fa, kCudaFatbin = 0xba55ed50, kSpirv = 0x07230203;
constexpr size_t kMachineOffset = offsetof(Elf64_Ehdr, e_machine);
#if defined(__aarch64__)
constexpr std::string_view kHostArchitecture = "arm_64";
#else
constexpr std::string_view kHostArchitecture = "x86_64";
#endif

struct Files {
  std::vector<std::vector<std::byte>> bytes;
  hal::ExecutableRegistry registry;
};

}  // namespace

Result<std::string> executable_format(std::string_view path, std::span<const std::byte> bytes) {
  const uint32_t magic = bytes.size() < 4 ? 0 : load_bytes<uint32_t>(bytes.data());
  if (magic == kFatElf) return text("embedded-elf-", kHostArchitecture);
  if (magic == kCudaFatbin) return std::string("cuda-fatbin");
  if (magic == kSpirv) return std::string("vulkan-spirv-fb");
  if (magic == kElf && bytes.size() >= sizeof(Elf64_Ehdr)) {
    const std::string_view loader = path.ends_with(".so") ? "system-elf-" : "embedded-elf-";
    const auto machine = load_bytes<uint16_t>(bytes.data() + kMachineOffset);
    if (machine == EM_X86_64) return text(loader, "x86_64");
    if (machine == EM_AARCH64) return text(loader, "arm_64");
    if (machine == EM_CUDA) return std::string("cuda-nvptx-fb");
  }
  if (text_of(bytes).find(".version") != std::string_view::npos && path.ends_with(".ptx")) {
    return std::string("cuda-nvptx-fb");
  }
  return failure(StatusCode::kInvalidArgument, "'", path,
                 "' holds no kernels: it is no ELF, FatELF, fatbin, PTX or SPIR-V file");
}

Result<std::shared_ptr<const hal::ExecutableRegistry>> register_executables(std::span<const std::string> given) {
  auto files = std::make_shared<Files>();
  for (const std::string& each : given) {
    const size_t equals = each.find('=');
    if (equals == 0 || equals == each.npos || equals + 1 == each.size()) {
      return failure(StatusCode::kInvalidArgument, "--executable=", each, " is not name=file");
    }
    const std::string path = each.substr(equals + 1);
    BATON_TRY_ASSIGN(std::vector<std::byte> bytes, read_file(path));
    BATON_TRY_ASSIGN(const std::string format, executable_format(path, bytes));
    files->bytes.push_back(std::move(bytes));
    BATON_TRY(files->registry.add(std::string_view(each).substr(0, equals), format, files->bytes.back()));
  }
  const hal::ExecutableRegistry* registry = &files->registry;
  return std::shared_ptr<const hal::ExecutableRegistry>(std::move(files), registry);
}

}  // namespace baton::tools
