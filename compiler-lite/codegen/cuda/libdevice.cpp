#include "compiler-lite/codegen/cuda/libdevice.hpp"

#include "compiler-lite/codegen/llvm/link_bitcode.hpp"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

constexpr llvm::StringLiteral kOurs = "baton_math_";
constexpr llvm::StringLiteral kTheirs[] = {
    "acos",  "acosh", "asin", "asinh", "atan",  "atan2", "atanh", "cbrt",  "cos",   "cosh", "erf",  "exp", "exp2",
    "expm1", "fmod",  "log",  "log10", "log1p", "log2",  "pow",   "round", "rsqrt", "sin",  "sinh", "tan", "tanh"};

// "__nv_expf" for "baton_math_exp_f32"; empty for what libdevice doesn't have.
std::string their_name(llvm::StringRef name) {
  if (!name.consume_front(kOurs)) return {};
  const bool wide = name.ends_with("_f64");
  llvm::StringRef operation = name.drop_back(4);
  if (operation == "powf") operation = "pow";
  if (!llvm::is_contained(kTheirs, operation)) return {};
  return ("__nv_" + operation + (wide ? "" : "f")).str();
}

}  // namespace

std::string link_libdevice(llvm::Module& module, const std::string& path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) return "libdevice can't be read from '" + path + "': " + file.getError().message() + ".";
  for (llvm::Function& function : module) {
    const std::string name = function.isDeclaration() ? their_name(function.getName()) : std::string();
    if (!name.empty()) function.setName(name);
  }
  return link_bitcode(module, {{path, (*file)->getBuffer()}});
}

}  // namespace baton::compiler_lite::codegen::cuda
