#include "compiler-lite/codegen/llvm/masked_logic.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace baton::compiler_lite::codegen {
namespace {

// One instruction has three operands, so two levels of operations, each perhaps behind a negation.
constexpr unsigned kLevelsMax = 4;

llvm::Value* behind_casts(llvm::Value* value) {
  while (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

// What becomes and, or, xor of bits: signs of floats are such, too.
bool is_logic(const llvm::Value* value) {
  if (const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(value)) return op->isBitwiseLogicOp();
  if (const auto* op = llvm::dyn_cast<llvm::UnaryOperator>(value)) return op->getOpcode() == llvm::Instruction::FNeg;
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call &&
         (call->getIntrinsicID() == llvm::Intrinsic::fabs || call->getIntrinsicID() == llvm::Intrinsic::copysign);
}

bool reads(llvm::Value* logic, const llvm::Value* wanted, unsigned levels) {
  logic = behind_casts(logic);
  if (logic == wanted) return true;
  if (levels == 0 || !is_logic(logic)) return false;
  for (llvm::Value* operand : llvm::cast<llvm::User>(logic)->operands()) {
    if (reads(operand, wanted, levels - 1)) return true;
  }
  return false;
}

bool is_made_of(llvm::Value* arm, llvm::Value* other) {
  arm = behind_casts(arm);
  return is_logic(arm) && reads(arm, behind_casts(other), kLevelsMax);
}

// The fence takes floats.
llvm::Type* fenced_type(llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return nullptr;
  const unsigned bits = vector->getScalarSizeInBits();
  if (bits != 32 && bits != 64) return nullptr;
  llvm::LLVMContext& context = type->getContext();
  llvm::Type* element = bits == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
  return llvm::FixedVectorType::get(element, vector->getNumElements());
}

void fence_arm(llvm::SelectInst& select, unsigned arm) {
  llvm::Value* value = select.getOperand(arm);
  llvm::Type* floats = fenced_type(value->getType());
  llvm::IRBuilder<> builder(&select);
  llvm::Value* fenced = builder.CreateArithmeticFence(builder.CreateBitCast(value, floats), floats);
  select.setOperand(arm, builder.CreateBitCast(fenced, value->getType()));
}

}  // namespace

void keep_masks_from_logic(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
      if (!select || !select->getCondition()->getType()->isVectorTy() || !fenced_type(select->getType())) continue;
      if (is_made_of(select->getTrueValue(), select->getFalseValue())) fence_arm(*select, 1);
      if (is_made_of(select->getFalseValue(), select->getTrueValue())) fence_arm(*select, 2);
    }
  }
}

}  // namespace baton::compiler_lite::codegen
