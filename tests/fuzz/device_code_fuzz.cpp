// What drivers read in device code before the device sees it, against any bytes: SPIR-V, PTX, cubins, their formats, and
// the rows of kernels that check their accesses. A status or facts that lie inside of the bytes; nothing is run.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "hal/code_format.hpp"
#include "hal/cubin.hpp"
#include "hal/device_image.hpp"
#include "hal/drivers/common/access_checks.hpp"
#include "hal/drivers/vulkan/spirv_module.hpp"
#include "hal/drivers/vulkan/spirv_part.hpp"

#if BATON_FUZZES_CUDA
#include "hal/drivers/cuda/code_image.hpp"
#include "hal/drivers/cuda/linked_functions.hpp"
#include "hal/drivers/cuda/required_block.hpp"
#include "hal/drivers/cuda/variants.hpp"
#endif

namespace {

using namespace baton::hal;

void read_as_spirv(std::span<const std::byte> code) {
  namespace vulkan = drivers::vulkan;
  static_cast<void>(spirv_entry_points(code));
  const uint32_t constants[] = {1, ~uint32_t{0}};
  const auto module = vulkan::read_spirv(code, constants);
  if (!module.has_value()) return;
  std::vector<uint32_t> words(code.size() / 4);
  std::memcpy(words.data(), code.data(), words.size() * 4);
  // A part is a module, too.
  for (const auto& entry : module->entry_points) {
    const std::vector<uint32_t> part = vulkan::only_entry_point(words, entry.function);
    if (!vulkan::read_spirv(std::as_bytes(std::span(part)), constants).has_value()) __builtin_trap();
  }
}

void read_as_cuda(std::span<const std::byte> code, std::string_view text) {
  static_cast<void>(cubin_arch(code));
  static_cast<void>(read_cubin(code));
  static_cast<void>(check_device_image(code));
#if BATON_FUZZES_CUDA
  namespace cuda = drivers::cuda;
  static_cast<void>(cuda::ptx_version(code));
  static_cast<void>(cuda::wanted_functions(code));
  if (cuda::code_kind(code) == cuda::CodeKind::kCubin && cuda::check_image(code).ok()) {
    static_cast<void>(cuda::cubin_required_block(code, "add"));
  }
  static_cast<void>(cuda::ptx_required_block(cuda::ptx_without_comments(text), "add"));
#else
  static_cast<void>(text);
#endif
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto code = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(tell_code_format(code));
  read_as_spirv(code);
  read_as_cuda(code, text);
  std::vector<AccessCheck> checks;
  read_access_checks(text, checks);
  for (const AccessCheck& check : checks) {
    if (check.access.size() + check.line.size() >= size) __builtin_trap();
  }
  return 0;
}
