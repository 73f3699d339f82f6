// All that reads device code of CUDA's and what Triton says of it, against code that a generator made: whole, where each
// reader must find what was written, and damaged, where it must come back with a status or facts that lie inside of the
// bytes.
#include <cstddef>
#include <cstdint>

#include "hal/code_format.hpp"
#include "hal/cubin.hpp"
#include "hal/device_image.hpp"
#include "hal/drivers/cuda/code_image.hpp"
#include "hal/drivers/cuda/linked_functions.hpp"
#include "hal/drivers/cuda/required_block.hpp"
#include "hal/drivers/cuda/variants.hpp"
#include "modules/kernel_library/device_functions.hpp"
#include "modules/kernel_library/json_field.hpp"
#include "modules/kernel_library/triton.hpp"
#include "tests/fuzz/device_code_generator.hpp"

namespace {

using namespace baton;
using namespace baton::testing_support;
namespace cuda = hal::drivers::cuda;

using Block = std::array<uint32_t, 3>;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void require(bool right) {
  if (!right) __builtin_trap();
}

std::optional<Block> wanted_block(const Block& block) { return block[0] ? std::optional(block) : std::nullopt; }

void read_whole_ptx(const GeneratedPtx& ptx) {
  const auto code = bytes_of(ptx.text);
  require(cuda::code_kind(code) == cuda::CodeKind::kPtx && cuda::check_image(code).ok());
  require(cuda::ptx_version(code) == ptx.version && cuda::ptx_target(code) == ptx.target);
  require(hal::tell_code_format(code).value() == "cuda-ptx" && modules::is_device_code(code));
  std::vector<cuda::WantedFunction> wanted;
  for (const std::string& name : ptx.externs) wanted.push_back({name, false});
  for (const std::string& name : ptx.weaks) wanted.push_back({name, true});
  require(cuda::wanted_functions(code) == wanted);
  const std::string bare = cuda::ptx_without_comments(ptx.text);
  for (size_t i = 0; i < ptx.kernels.size(); ++i) {
    require(cuda::ptx_required_block(bare, ptx.kernels[i]) == wanted_block(ptx.blocks[i]));
  }
}

void read_whole_cubin(const GeneratedCubin& made) {
  const auto code = bytes_of(made.bytes);
  require(cuda::check_image(code).ok() && hal::cubin_arch(code) == 90 && modules::is_device_code(code));
  const auto cubin = hal::read_cubin(code);
  require(cubin.has_value() && cubin->arch == 90 && cubin->kernels.size() == made.kernels.size());
  for (size_t i = 0; i < made.kernels.size(); ++i) {
    const hal::CubinKernel& kernel = cubin->kernels[i];
    require(kernel.name == made.kernels[i] && kernel.parameters.size() == made.parameters[i].size());
    for (size_t j = 0; j < kernel.parameters.size(); ++j) require(kernel.parameters[j].bytes == made.parameters[i][j]);
    require(cuda::cubin_required_block(code, kernel.name) == wanted_block(made.blocks[i]));
  }
}

void read_any(const std::string& text) {
  const auto code = bytes_of(text);
  static_cast<void>(hal::tell_code_format(code));
  static_cast<void>(hal::cubin_arch(code));
  static_cast<void>(hal::read_cubin(code));
  static_cast<void>(hal::check_device_image(code));
  static_cast<void>(modules::is_device_code(code));
  static_cast<void>(cuda::ptx_version(code));
  static_cast<void>(cuda::ptx_target(code));
  static_cast<void>(cuda::wanted_functions(code));
  if (cuda::code_kind(code) == cuda::CodeKind::kCubin && cuda::check_image(code).ok()) {
    static_cast<void>(cuda::cubin_required_block(code, "add0"));
  }
  static_cast<void>(cuda::ptx_required_block(cuda::ptx_without_comments(text), "add"));
}

void read_pair(Choices& choices) {
  GeneratedCubin cubin = generate_cubin(choices);
  GeneratedTriton triton = generate_triton(choices, cubin);
  if (choices.one_in(2)) {
    const auto kernel = modules::read_triton(triton.metadata, bytes_of(cubin.bytes));
    require(kernel.has_value() == triton.is_sound);
    if (!kernel.has_value()) return;
    const size_t hidden = kernel->launch.hidden_pointers;
    require(kernel->name == cubin.kernels[0] && kernel->parameters.size() + hidden == cubin.parameters[0].size());
    return;
  }
  damage(choices, choices.one_in(2) ? cubin.bytes : triton.metadata);
  static_cast<void>(modules::read_triton(triton.metadata, bytes_of(cubin.bytes)));
  static_cast<void>(modules::json_field(triton.metadata, "name"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(std::span(data, size));
  switch (choices.among(4)) {
    case 0: read_whole_ptx(generate_ptx(choices)); return 0;
    case 1: read_whole_cubin(generate_cubin(choices)); return 0;
    case 2: read_pair(choices); return 0;
    default: break;
  }
  std::string image = generate_image(choices);
  require(hal::check_device_image(bytes_of(image)).ok());
  damage(choices, image);
  read_any(image);
  return 0;
}
