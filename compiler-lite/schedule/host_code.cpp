#include "compiler-lite/schedule/host_code.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/scalar_words.hpp"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::schedule {
namespace {

using mlir::OpBuilder;

std::string free_name(mlir::ModuleOp program, llvm::StringRef stem) {
  std::string name = stem.str();
  for (unsigned number = 0; program.lookupSymbol(name); ++number) name = stem.str() + "." + std::to_string(number);
  return name;
}

// What each block's end returns, as util.return; narrow numbers as words.
void convert_returns(mlir::Region& body, bool as_words) {
  for (mlir::Block& block : body) {
    auto end = llvm::dyn_cast<hal::ReturnOp>(block.getTerminator());
    if (!end) continue;
    OpBuilder builder(end);
    llvm::SmallVector<mlir::Value> results;
    for (const mlir::Value value : end.getOperands()) {
      if (as_words) {
        llvm::append_range(results, pack_words(builder, end.getLoc(), value));
      } else {
        results.push_back(value);
      }
    }
    builder.create<util::ReturnOp>(end.getLoc(), results);
    end.erase();
  }
}

util::FuncOp outline(mlir::ModuleOp program, llvm::StringRef stem, mlir::Region& region, mlir::TypeRange results) {
  OpBuilder builder = OpBuilder::atBlockEnd(program.getBody());
  const auto type = builder.getFunctionType(region.getArgumentTypes(), results);
  auto function = builder.create<util::FuncOp>(region.getLoc(), free_name(program, stem), type);
  function.setPrivate();
  mlir::IRMapping values;
  region.cloneInto(&function.getBody(), values);
  return function;
}

mlir::LogicalResult add_constants(mlir::ModuleOp program, llvm::StringRef stem, hal::ExecutableConstantBlockOp block,
                                  HostCode& host) {
  const auto type = llvm::cast<mlir::FunctionType>(block.getFunctionType());
  if (type.getNumResults() != block.getKeys().size()) {
    return block.emitOpError("makes ") << type.getNumResults() << " constants and names " << block.getKeys().size();
  }
  for (const mlir::Type result : type.getResults()) {
    if (word_count(result) == 1) continue;
    return block.emitOpError("makes a ") << result << "; a constant of an executable is one word of 32 bits";
  }
  for (const mlir::Attribute key : block.getKeys()) {
    host.keys.push_back(llvm::cast<mlir::StringAttr>(key).str());
    if (llvm::count(host.keys, host.keys.back()) == 1) continue;
    return block.emitOpError("makes the constant '") << host.keys.back() << "', which is made before";
  }
  const llvm::SmallVector<mlir::Type> words(type.getNumResults(), mlir::IntegerType::get(block.getContext(), 32));
  util::FuncOp function = outline(program, stem, block.getBody(), words);
  convert_returns(function.getBody(), /*as_words=*/true);
  host.constants.push_back({function.getSymName().str(), type.getNumResults()});
  return mlir::success();
}

}  // namespace

std::string outline_host_region(mlir::ModuleOp program, llvm::StringRef stem, mlir::Region& region,
                                mlir::TypeRange results) {
  util::FuncOp function = outline(program, stem, region, results);
  convert_returns(function.getBody(), /*as_words=*/false);
  return function.getSymName().str();
}

mlir::FailureOr<HostCode> outline_host_code(mlir::ModuleOp program, llvm::StringRef stem, mlir::Region& body) {
  HostCode host;
  const mlir::Type truth = mlir::IntegerType::get(program.getContext(), 1);
  for (auto condition : body.getOps<hal::ExecutableConditionOp>()) {
    if (!host.condition.empty()) return condition.emitOpError("is the second condition of one variant");
    host.condition = outline_host_region(program, (stem + ".condition").str(), condition.getBody(), truth);
  }
  for (auto block : body.getOps<hal::ExecutableConstantBlockOp>()) {
    if (mlir::failed(add_constants(program, (stem + ".constants").str(), block, host))) return mlir::failure();
  }
  return host;
}

mlir::LogicalResult number_constant_loads(mlir::ModuleOp kernels, const HostCode& host) {
  OpBuilder builder(kernels.getContext());
  kernels->setAttr(codegen::kSpecializationCount, builder.getIndexAttr(static_cast<int64_t>(host.keys.size())));
  const auto walked = kernels.walk([&](hal::ExecutableConstantLoadOp load) {
    const auto found = llvm::find(host.keys, load.getKey());
    if (found == host.keys.end()) {
      load.emitOpError("asks for '") << load.getKey() << "', which no constant block of the executable makes";
      return mlir::WalkResult::interrupt();
    }
    load->setAttr("ordinal", builder.getIndexAttr(found - host.keys.begin()));
    return mlir::WalkResult::advance();
  });
  return mlir::failure(walked.wasInterrupted());
}

}  // namespace baton::compiler_lite::schedule
