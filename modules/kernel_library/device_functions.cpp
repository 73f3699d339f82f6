#include "modules/kernel_library/device_functions.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "hal/interface/spirv.hpp"
#include "modules/kernel_library/cuda_compiler.hpp"

namespace baton::modules {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view without_space_and_comments(std::string_view code) {
  while (!code.empty()) {
    if (code.starts_with("//")) {
      code.remove_prefix(std::min(code.find('\n'), code.size()));
    } else if (code.starts_with("/*")) {
      const size_t end = code.find("*/", 2);
      code.remove_prefix(end == code.npos ? code.size() : end + 2);
    } else if (std::string_view(" \t\r\n").find(code[0]) != std::string_view::npos) {
      code.remove_prefix(1);
    } else {
      break;
    }
  }
  return code;
}

class LibraryLinker final : public hal::drivers::cuda::DeviceLinker {
  using DeviceCode = hal::drivers::cuda::DeviceCode;
  Result<std::vector<std::byte>> link(std::string_view arch, std::span<const DeviceCode> code) const override {
    std::vector<LinkInput> inputs;
    for (const DeviceCode& one : code) inputs.push_back({one.name, one.bytes});
    return link_cuda(arch, inputs);
  }
};

bool is_spirv(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(uint32_t) && load_bytes<uint32_t>(bytes.data()) == hal::spirv::kMagic;
}

bool is_cuda_code(std::span<const std::byte> bytes) {
  constexpr std::string_view kElf =
                                 "\x7f"
                                 "ELF",
                             kFatbin = "\x50\xed\x55\xba", kArchive = "!<arch>\n", kLtoIr = "\xed\x43\x4e\x7f",
                             kPtx = ".version";
  constexpr size_t kTypeAt = 16, kMachineAt = 18;
  constexpr uint16_t kRelocatable = 1, kCudaMachine = 190;
  std::string_view code = text_of(bytes);
  if (code.starts_with(kFatbin) || code.starts_with(kArchive) || code.starts_with(kLtoIr)) return true;
  if (code.starts_with(kElf) && code.size() >= kMachineAt + 2) {
    return load_bytes<uint16_t>(bytes.data() + kTypeAt) == kRelocatable ||
           load_bytes<uint16_t>(bytes.data() + kMachineAt) == kCudaMachine;
  }
  return without_space_and_comments(code).starts_with(kPtx);
}

bool is_device_of(std::string_view driver, std::string_view uri) {
  if (!uri.starts_with(driver)) return false;
  uri.remove_prefix(driver.size());
  return uri.empty() || std::string_view(":-?").find(uri[0]) != std::string_view::npos;
}

}  // namespace

bool is_device_code(std::span<const std::byte> bytes) { return is_cuda_code(bytes) || is_spirv(bytes); }

std::shared_ptr<const hal::drivers::cuda::DeviceLinker> device_linker() { return std::make_shared<LibraryLinker>(); }

Status add_device_functions(std::string name, std::span<const std::byte> code, hal::drivers::DriverOptions& options) {
  if (is_spirv(code)) {
    options.vulkan.functions.push_back({std::move(name), {code.begin(), code.end()}});
    return {};
  }
  if (!is_cuda_code(code)) {
    return failure(StatusCode::kInvalidArgument, "'", name,
                   "' has no device functions: it is no PTX, cubin, fatbin, object, archive or LTO-IR, and no SPIR-V.");
  }
  if (!options.cuda.linker) options.cuda.linker = device_linker();
  options.cuda.functions.push_back({std::move(name), {code.begin(), code.end()}});
  return {};
}

Status check_takes_device_functions(std::string_view uri, std::string_view name, std::span<const std::byte> code) {
  const bool is_vulkan = is_device_of("vulkan", uri);
  if (!is_vulkan && !is_device_of("cuda", uri)) {
    return failure(StatusCode::kInvalidArgument, "Device '", uri,
                   "' links no device functions; CUDA's and Vulkan's devices do.");
  }
  if (!is_device_code(code) || is_vulkan == is_spirv(code)) return {};
  return failure(StatusCode::kInvalidArgument, "'", name, "' is ", is_vulkan ? "no SPIR-V" : "SPIR-V", ", and device '",
                 uri, "' links ", is_vulkan ? "nothing else." : "none.");
}

}  // namespace baton::modules
