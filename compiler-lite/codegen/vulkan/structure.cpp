#include "compiler-lite/codegen/vulkan/structure.hpp"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/ExpandReductions.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMIRToLLVMTranslation.h"
#include "mlir/Target/LLVMIR/Import.h"

namespace baton::compiler_lite::codegen::vulkan {
namespace {

namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

// Every pointer says whether it points to shared memory; switches are branches.
void simplify(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ExpandReductionsPass());
  passes.addPass(llvm::InferAddressSpacesPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::LoadStoreVectorizerPass());  // Accesses that the optimizer has taken apart.
  passes.addPass(llvm::LowerSwitchPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

// What the optimizer made of a remainder beside its quotient, x - x / y * y, is a remainder again.
void restore_remainders(llvm::Function& function) {
  using namespace llvm::PatternMatch;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    llvm::Value* from = nullptr;
    const llvm::APInt *by = nullptr, *times = nullptr;
    const auto quotient = m_UDiv(m_Value(from), m_APInt(by));
    // InstCombine writes x + x / y * -y.
    if (!match(&instruction, m_c_Add(m_Mul(quotient, m_APInt(times)), m_Deferred(from))) || *times != -*by) continue;
    llvm::IRBuilder<> builder(&instruction);
    instruction.replaceAllUsesWith(builder.CreateURem(from, llvm::ConstantInt::get(from->getType(), *by)));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(&instruction);
  }
}

// SPIR-V has none, and nothing is known of what is behind one.
void drop_freezes(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!llvm::isa<llvm::FreezeInst>(instruction)) continue;
    instruction.replaceAllUsesWith(instruction.getOperand(0));
    instruction.eraseFromParent();
  }
}

// Divides in 32 bits what is known to have no more, which takes a device a fraction of the time.
void narrow_divisions(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  llvm::Type* const narrow = llvm::Type::getInt32Ty(function.getContext());
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const bool divides =
        instruction.getOpcode() == llvm::Instruction::UDiv || instruction.getOpcode() == llvm::Instruction::URem;
    if (!divides || !instruction.getType()->isIntegerTy(64)) continue;
    const auto fits = [&](llvm::Value* value) {
      return llvm::computeKnownBits(value, layout).countMaxActiveBits() <= 32;
    };
    if (!fits(instruction.getOperand(0)) || !fits(instruction.getOperand(1))) continue;
    llvm::IRBuilder<> builder(&instruction);
    const auto narrowed = [&](llvm::Value* value) { return builder.CreateTrunc(value, narrow); };
    llvm::Value* const made =
        builder.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(instruction.getOpcode()),
                            narrowed(instruction.getOperand(0)), narrowed(instruction.getOperand(1)));
    instruction.replaceAllUsesWith(builder.CreateZExt(made, instruction.getType()));
    instruction.eraseFromParent();
  }
}

// On an H100 (driver 580.159) kernels that stored at x / y * (y * s) + (x - x / y * y) * s, in 64 bits, stored some rows in the
// places of others; kernels that divide in 32 bits did not. None of these was run there since.
void simplify_divisions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    drop_freezes(function);
    restore_remainders(function);
    narrow_divisions(function);
  }
}

void collect_leaves(llvm::Type* type, llvm::SmallVectorImpl<unsigned>& path,
                    llvm::SmallVectorImpl<llvm::SmallVector<unsigned>>& leaves) {
  const bool whole = !type->isAggregateType();
  if (whole) return (void)leaves.emplace_back(path.begin(), path.end());
  const unsigned count =
      type->isStructTy() ? type->getStructNumElements() : static_cast<unsigned>(type->getArrayNumElements());
  for (unsigned i = 0; i < count; ++i) {
    path.push_back(i);
    collect_leaves(llvm::ExtractValueInst::getIndexedType(type, i), path, leaves);
    path.pop_back();
  }
}

// Blocks that MLIR has merged take descriptors of memory, which hide the pointers.
void split_phi(llvm::PHINode& phi) {
  llvm::SmallVector<unsigned> path;
  llvm::SmallVector<llvm::SmallVector<unsigned>> leaves;
  collect_leaves(phi.getType(), path, leaves);
  llvm::BasicBlock* block = phi.getParent();
  llvm::Value* joined = llvm::PoisonValue::get(phi.getType());
  llvm::IRBuilder<> builder(block, block->getFirstInsertionPt());
  for (const llvm::SmallVector<unsigned>& leaf : leaves) {
    llvm::Type* type = llvm::ExtractValueInst::getIndexedType(phi.getType(), leaf);
    llvm::PHINode* part = llvm::PHINode::Create(type, phi.getNumIncomingValues(), "", phi.getIterator());
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      llvm::IRBuilder<> before(phi.getIncomingBlock(i)->getTerminator());
      part->addIncoming(before.CreateExtractValue(phi.getIncomingValue(i), leaf), phi.getIncomingBlock(i));
    }
    joined = builder.CreateInsertValue(joined, part, leaf);
  }
  phi.replaceAllUsesWith(joined);
  phi.eraseFromParent();
}

bool is_hint(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::sideeffect: return true;
    default: return false;
  }
}

// What was for the optimizer would be warned about.
void drop_hints(llvm::Module& module) {
  llvm::StripDebugInfo(module);
  llvm::SmallVector<llvm::Instruction*> hints;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>> notes;
        instruction.getAllMetadata(notes);
        for (const auto& [kind, note] : notes) instruction.setMetadata(kind, nullptr);
        if (is_hint(instruction)) hints.push_back(&instruction);
      }
    }
  }
  for (llvm::Instruction* hint : hints) hint->eraseFromParent();
  for (llvm::NamedMDNode& named : llvm::make_early_inc_range(module.named_metadata())) named.eraseFromParent();
}

void rename_intrinsics(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration()) continue;
    if (!function.use_empty() && function.getName().starts_with("llvm.nvvm.")) {
      auto* renamed = llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                             llvm::Twine(kIntrinsicPrefix) + function.getName(), module);
      function.replaceAllUsesWith(renamed);
    }
    if (function.use_empty()) function.eraseFromParent();
  }
}

// The words of constants; what remains of them is a declaration.
std::string take_tables(llvm::Module& module, std::map<std::string, std::vector<uint32_t>>& tables) {
  const llvm::DataLayout& layout = module.getDataLayout();
  auto* word = llvm::Type::getInt32Ty(module.getContext());
  size_t number = 0;
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    global.removeDeadConstantUsers();
    if (global.use_empty()) {
      global.eraseFromParent();
      continue;
    }
    if (!global.hasInitializer()) continue;
    if (!global.isConstant()) {
      return "The variable '" + global.getName().str() +
             "' lives from one dispatch to the next; code for Vulkan has none.";
    }
    global.setName("table." + std::to_string(number++));
    std::vector<uint32_t>& words = tables[global.getName().str()];
    const uint64_t bytes = layout.getTypeAllocSize(global.getValueType());
    for (uint64_t at = 0; at < bytes; at += 4) {
      llvm::Constant* folded =
          llvm::ConstantFoldLoadFromConst(global.getInitializer(), word, llvm::APInt(64, at), layout);
      const auto* value = llvm::dyn_cast_or_null<llvm::ConstantInt>(folded);
      words.push_back(value ? static_cast<uint32_t>(value->getZExtValue()) : 0);
    }
    global.setInitializer(nullptr);
    global.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
  return {};
}

class Lifting final : public mlir::ControlFlowToSCFTransformation {
 public:
  mlir::FailureOr<mlir::Operation*> createStructuredBranchRegionOp(
      mlir::OpBuilder& builder, mlir::Operation* branch, mlir::TypeRange types,
      llvm::MutableArrayRef<mlir::Region> regions) override {
    auto condition = llvm::dyn_cast<LLVM::CondBrOp>(branch);
    if (!condition)
      return ControlFlowToSCFTransformation::createStructuredBranchRegionOp(builder, branch, types, regions);
    auto choice = builder.create<scf::IfOp>(branch->getLoc(), types, condition.getCondition());
    choice.getThenRegion().takeBody(regions[0]);
    choice.getElseRegion().takeBody(regions[1]);
    return choice.getOperation();
  }
  mlir::FailureOr<mlir::Operation*> createUnreachableTerminator(mlir::Location location, mlir::OpBuilder& builder,
                                                                mlir::Region&) override {
    return builder.create<LLVM::ReturnOp>(location, mlir::ValueRange()).getOperation();
  }
};

mlir::LogicalResult lift(LLVM::LLVMFuncOp function) {
  llvm::SmallVector<LLVM::UnreachableOp> dead_ends;
  function.walk([&](LLVM::UnreachableOp op) { dead_ends.push_back(op); });
  for (LLVM::UnreachableOp op : dead_ends) {
    mlir::OpBuilder(op).create<LLVM::ReturnOp>(op.getLoc(), mlir::ValueRange());
    op.erase();
  }
  Lifting lifting;
  mlir::DominanceInfo dominance(function);
  return mlir::success(mlir::succeeded(mlir::transformCFGToSCF(function.getBody(), lifting, dominance)));
}

}  // namespace

void split_aggregates(llvm::Module& module) {
  llvm::SmallVector<llvm::PHINode*> phis;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::PHINode& phi : block.phis()) {
        if (phi.getType()->isAggregateType()) phis.push_back(&phi);
      }
    }
  }
  for (llvm::PHINode* phi : phis) split_phi(*phi);
}

Structured structure(std::unique_ptr<llvm::Module> module, llvm::TargetMachine& machine) {
  Structured made;
  split_aggregates(*module);
  simplify(*module, machine);
  simplify_divisions(*module);
  drop_hints(*module);
  rename_intrinsics(*module);
  made.problem = take_tables(*module, made.tables);
  if (!made.problem.empty()) return made;
  mlir::DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect, mlir::DLTIDialect, scf::SCFDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::ub::UBDialect>();
  mlir::registerLLVMDialectImport(registry);
  made.context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  made.context->loadAllAvailableDialects();
  std::string said;
  const mlir::ScopedDiagnosticHandler listener(made.context.get(), [&](mlir::Diagnostic& each) {
    if (each.getSeverity() == mlir::DiagnosticSeverity::Error && said.empty()) said = each.str();
    return mlir::success();
  });
  made.module = mlir::translateLLVMIRToModule(std::move(module), made.context.get(), /*emitExpensiveWarnings=*/false);
  bool good = static_cast<bool>(made.module);
  if (good) {
    for (auto function : made.module->getOps<LLVM::LLVMFuncOp>()) {
      good = good && (function.isExternal() || mlir::succeeded(lift(function)));
    }
  }
  if (!good) made.problem = "The kernels can't be made of loops and choices: " + said;
  return made;
}

}  // namespace baton::compiler_lite::codegen::vulkan
