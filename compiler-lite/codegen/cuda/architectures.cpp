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
// Before tensor cores multiply f16 as we write it. Their PTX runs on everything newer, too.
constexpr Arch kOlderArchs[] = {{"52", "60", 48}, {"53", "60", 48}, {"60", "60", 48}, {"61", "60", 48},
                                {"62", "60", 48}, {"70", "60", 96}, {"72", "61", 96}};

bool write_hopper_product(mlir::OpBuilder& builder, mlir::Location location, const Product& product, gpu::Block& block,
                          bool from_zero) {
  if (write_warpgroup_product(builder, location, product, block, from_zero)) return true;
  return product.turns.empty() && write_tensor_core_product(builder, location, product, block, from_zero);
}

gpu::Features features_of(const Arch& arch) {
  const llvm::StringRef number = arch.number;
  const bool has_warpgroups = number == "90a";
  return {.has_async_copy = number != "75",
          .has_warpgroups = has_warpgroups,
          .has_clusters = number.starts_with("90"),
          .shared_bytes_max = arch.shared_kilobytes * 1024,
          .write_product = has_warpgroups ? write_hopper_product : write_tensor_core_product,
          .makes_turns = has_warpgroups,
          .write_attention = write_attention};
}

TargetInfo info_of(llvm::StringRef name, const Arch& arch, const gpu::Features& features) {
  return {name.str(), std::string("+ptx") + arch.ptx, std::string("cuda-ptx-compute_") + arch.number, features};
}

std::string names_of(llvm::ArrayRef<Arch> archs) {
  std::string text;
  for (const Arch& known : archs) text += (text.empty() ? "sm_" : ", sm_") + std::string(known.number);
  return text;
}

}  // namespace

std::optional<TargetInfo> target_info(llvm::StringRef arch) {
  llvm::StringRef number = arch;
  if (!number.consume_front("sm_")) return std::nullopt;
  for (const Arch& known : kArchs) {
    if (number == known.number) return info_of(arch, known, features_of(known));
  }
  for (const Arch& known : kOlderArchs) {
    if (number == known.number) return info_of(arch, known, {.shared_bytes_max = known.shared_kilobytes * 1024});
  }
  return std::nullopt;
}

std::string known_archs() { return names_of(kArchs); }
std::string older_archs() { return names_of(kOlderArchs); }

}  // namespace baton::compiler_lite::codegen::cuda
