#include "compiler-lite/codegen/vulkan/link_spirv.hpp"

#ifdef BATON_SPIRV_TOOLS
#include "spirv-tools/libspirv.hpp"
#include "spirv-tools/linker.hpp"
#include "spirv-tools/optimizer.hpp"
#endif

namespace baton::compiler_lite::codegen::vulkan {

#ifdef BATON_SPIRV_TOOLS
namespace {

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

// Keeps the first sentence.
spvtools::MessageConsumer listener(std::string& said) {
  return [&said](spv_message_level_t level, const char*, const spv_position_t&, const char* message) {
    if (level <= SPV_MSG_ERROR && said.empty()) said = message;
  };
}

bool is_valid(const std::vector<uint32_t>& words, spv_target_env environment, std::string& said) {
  spvtools::SpirvTools tools(environment);
  tools.SetMessageConsumer(listener(said));
  return tools.Validate(words);
}

// Calls become what they call. The optimizer leaves alone what no pass is about.
bool inline_calls(std::vector<uint32_t>& words, std::string& said) {
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.SetMessageConsumer(listener(said));
  optimizer.RegisterPass(spvtools::CreateMergeReturnPass())
      .RegisterPass(spvtools::CreateInlineExhaustivePass())
      .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
      .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateDeadVariableEliminationPass())
      .RegisterPass(spvtools::CreateEliminateDeadConstantPass())
      .RegisterPass(spvtools::CreateCompactIdsPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  std::vector<uint32_t> optimized;
  if (!optimizer.Run(words.data(), words.size(), &optimized, options)) return false;
  words = std::move(optimized);
  return true;
}

}  // namespace

std::vector<uint32_t> link_spirv(llvm::ArrayRef<std::vector<uint32_t>> modules, bool keeps_imports,
                                 std::string& problem) {
  std::string said;
  spvtools::Context context(kEnvironment);
  context.SetMessageConsumer(listener(said));
  std::vector<uint32_t> linked;
  spvtools::LinkerOptions options;
  options.SetAllowPartialLinkage(keeps_imports);
  if (spvtools::Link(context, modules, &linked, options) != SPV_SUCCESS) {
    problem = "SPIRV-Tools can't link the libraries: " + said;
    return {};
  }
  // The optimizer knows no functions without bodies; then drivers inline.
  if (!keeps_imports && !inline_calls(linked, said)) {
    problem = "SPIRV-Tools can't inline the libraries' functions: " + said;
    return {};
  }
  // Vulkan knows no linkage.
  if (!is_valid(linked, keeps_imports ? SPV_ENV_UNIVERSAL_1_5 : kEnvironment, said)) {
    problem = "The libraries' functions make code that is not valid: " + said;
    return {};
  }
  return linked;
}

std::string validate_library(const std::vector<uint32_t>& words) {
  std::string said;
  return is_valid(words, SPV_ENV_UNIVERSAL_1_5, said) ? std::string() : "it is not valid: " + said;
}
#else
std::string validate_library(const std::vector<uint32_t>&) { return {}; }

std::vector<uint32_t> link_spirv(llvm::ArrayRef<std::vector<uint32_t>>, bool, std::string& problem) {
  problem = "Libraries of SPIR-V are linked by SPIRV-Tools, which was not there when Baton was built.";
  return {};
}
#endif

}  // namespace baton::compiler_lite::codegen::vulkan
