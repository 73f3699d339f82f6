#include "compiler-lite/codegen/cuda/architectures.hpp"

#include "compiler-lite/codegen/cuda/attention.hpp"
#include "compiler-lite/codegen/cuda/tensor_core_product.hpp"
#include "compiler-lite/codegen/cuda/warpgroup_product.hpp"

namespace baton::compiler_lite::codegen::cuda {
namespace {

struct Arch {
  const char* number;
  const char* ptx;
  int64_t shared_kilobytes;  // That a block may have.
};
constexpr Arch kArchs[] = {{"75", "65", 64}, {"80", "70", 163}, {"86", "71", 99},  {"87", "74", 163},
                           {"89", "78", 99}, {"90", "78", 227}, {"90a", "80", 227}};

bool write_hopper_product(mlir::OpBuilder& builder, mlir::Location location, const Product& product, gpu::Block& block,
                          bool from_zero) {
  if (write_warpgroup_product(builder, location, product, block, from_zero)) return true;
  return product.turns.empty() && write_tensor_core_product(builder, location, product, block, from_zero);
}

}  // namespace

std::optional<TargetInfo> target_info(llvm::StringRef arch) {
  llvm::StringRef number = arch;
  if (!number.consume_front("sm_")) return std::nullopt;
  for (const Arch& known : kArchs) {
    if (number == known.number) {
      const bool has_warpgroups = number == "90a";
      const gpu::Features features{.has_async_copy = number != "75",
                                   .shared_bytes_max = known.shared_kilobytes * 1024,
                                   .write_product = has_warpgroups ? write_hopper_product : write_tensor_core_product,
                                   .makes_turns = has_warpgroups,
                                   .write_attention = write_attention};
      return TargetInfo{arch.str(), std::string("+ptx") + known.ptx, "cuda-ptx-compute_" + number.str(), features};
    }
  }
  return std::nullopt;
}

std::string known_archs() {
  std::string text;
  for (const Arch& known : kArchs) text += (text.empty() ? "sm_" : ", sm_") + std::string(known.number);
  return text;
}

}  // namespace baton::compiler_lite::codegen::cuda
