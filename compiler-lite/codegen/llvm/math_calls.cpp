#include "compiler-lite/codegen/llvm/math_calls.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace baton::compiler_lite::codegen {
namespace {

using mlir::OpBuilder;
using mlir::Value;
namespace LLVM = mlir::LLVM;
namespace math = mlir::math;

// What the target does in an instruction or two.
bool is_native(mlir::Operation* op, const Machine& target) {
  if (llvm::isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::SqrtOp, math::CountLeadingZerosOp,
                math::CountTrailingZerosOp, math::CtPopOp>(op)) {
    return true;
  }
  if (llvm::isa<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op)) return target.has_rounding;
  return llvm::isa<math::FmaOp>(op) && target.has_fma;
}

// "exp" for math.exp, or empty for what isn't lowered here.
llvm::StringRef operation_name(mlir::Operation* op) {
  if (llvm::isa<mlir::arith::RemFOp>(op)) return "fmod";
  const llvm::StringRef name = op->getName().getStringRef();
  return name.starts_with("math.") ? name.drop_front(5) : llvm::StringRef();
}

class MathCalls {
 public:
  MathCalls(mlir::ModuleOp module, const Machine& target) : module_(module), target_(target) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<mlir::Operation*> operations;
    module_.walk([&](mlir::Operation* op) {
      if (!operation_name(op).empty() && !is_native(op, target_)) operations.push_back(op);
    });
    for (mlir::Operation* op : operations) {
      if (mlir::failed(lower(op))) return mlir::failure();
    }
    return mlir::success();
  }

 private:
  mlir::LogicalResult lower(mlir::Operation* op) {
    OpBuilder builder(op);
    const mlir::Type type = op->getResult(0).getType();
    const mlir::Type element = mlir::getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64()) {
      if (llvm::isa<math::IPowIOp>(op)) return mlir::success();  // A loop that convert-math-to-funcs makes.
      return op->emitError("'") << op->getName() << "' on " << type << " is not supported in kernels.";
    }
    const auto vector = llvm::dyn_cast<mlir::VectorType>(type);
    if (vector && vector.isScalable()) return op->emitError("Scalable vectors are not supported in kernels.");
    Value result = vector ? call_each(builder, op, vector) : call(builder, op, op->getOperands(), element);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return mlir::success();
  }

  Value call_each(OpBuilder& builder, mlir::Operation* op, mlir::VectorType type) {
    const mlir::Location location = op->getLoc();
    Value result = builder.create<mlir::arith::ConstantOp>(location, type, builder.getZeroAttr(type));
    llvm::SmallVector<int64_t> at(static_cast<size_t>(type.getRank()), 0);
    for (int64_t linear = 0; linear < type.getNumElements(); ++linear) {
      int64_t rest = linear;
      for (size_t i = at.size(); i-- > 0; rest /= type.getDimSize(static_cast<unsigned>(i))) {
        at[i] = rest % type.getDimSize(static_cast<unsigned>(i));
      }
      llvm::SmallVector<Value> elements;
      for (const Value operand : op->getOperands()) {
        elements.push_back(llvm::isa<mlir::VectorType>(operand.getType())
                               ? builder.create<mlir::vector::ExtractOp>(location, operand, at).getResult()
                               : operand);
      }
      const Value element = call(builder, op, elements, type.getElementType());
      result = builder.create<mlir::vector::InsertOp>(location, element, result, at);
    }
    return result;
  }

  Value call(OpBuilder& builder, mlir::Operation* op, mlir::ValueRange operands, mlir::Type element) {
    const std::string symbol = ("baton_math_" + operation_name(op)).str() + (element.isF32() ? "_f32" : "_f64");
    llvm::SmallVector<mlir::Type> types(operands.getTypes());
    auto function = module_.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
    if (!function) {
      OpBuilder at_start = OpBuilder::atBlockBegin(module_.getBody());
      function = at_start.create<LLVM::LLVMFuncOp>(op->getLoc(), symbol, LLVM::LLVMFunctionType::get(element, types));
    }
    return builder.create<LLVM::CallOp>(op->getLoc(), function, operands).getResult();
  }

  mlir::ModuleOp module_;
  const Machine& target_;
};

// Arithmetic and math on f16 and bf16 go through f32; what is left are conversions.
mlir::LogicalResult compute_small_floats_in_f32(mlir::ModuleOp module) {
  mlir::MLIRContext* context = module.getContext();
  mlir::TypeConverter math_types;
  math::populateLegalizeToF32TypeConverter(math_types);
  // Upstream's makes f32 of the elements of every vector, doubles too.
  math_types.addConversion([](mlir::ShapedType type) -> std::optional<mlir::Type> {
    auto element = llvm::dyn_cast<mlir::FloatType>(type.getElementType());
    return element && element.getWidth() >= 32 ? std::optional<mlir::Type>(type) : std::nullopt;
  });
  mlir::ConversionTarget math_target(*context);
  math::populateLegalizeToF32ConversionTarget(math_target, math_types);
  math_target.addLegalOp<mlir::arith::BitcastOp>();  // Between f16 and bf16 the bits stay, and not the number.
  mlir::RewritePatternSet math_patterns(context);
  math::populateLegalizeToF32Patterns(math_patterns, math_types);
  if (mlir::failed(mlir::applyPartialConversion(module, math_target, std::move(math_patterns)))) return mlir::failure();

  mlir::TypeConverter arith_types;
  const mlir::Type small[] = {mlir::Float16Type::get(context), mlir::BFloat16Type::get(context)};
  mlir::arith::populateEmulateUnsupportedFloatsConversions(arith_types, small, mlir::Float32Type::get(context));
  mlir::ConversionTarget arith_target(*context);
  mlir::arith::populateEmulateUnsupportedFloatsLegality(arith_target, arith_types);
  mlir::RewritePatternSet arith_patterns(context);
  mlir::arith::populateEmulateUnsupportedFloatsPatterns(arith_patterns, arith_types);
  return mlir::applyPartialConversion(module, arith_target, std::move(arith_patterns));
}

// Between two operations on f32 nothing is rounded to f16: the pair of conversions folds. What tells numbers apart sees
// them as they are in memory, where those beyond the largest f16 are infinite: overflow is looked for so. An integer that
// becomes f16 becomes one.
void keep_infinite_halves(mlir::ModuleOp module) {
  const auto is_half = [](Value value) { return mlir::getElementTypeOrSelf(value.getType()).isF16(); };
  module.walk([&](mlir::Operation* op) {
    auto narrow = llvm::dyn_cast<mlir::arith::TruncFOp>(op);
    if (narrow && is_half(narrow) &&
        llvm::isa_and_nonnull<mlir::arith::SIToFPOp, mlir::arith::UIToFPOp>(narrow.getIn().getDefiningOp())) {
      narrow.setFastmath(mlir::arith::FastMathFlags::none);
    }
    if (!llvm::isa<mlir::arith::CmpFOp, mlir::arith::FPToSIOp, mlir::arith::FPToUIOp, mlir::arith::RemFOp, math::CeilOp,
                   math::FloorOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(op)) {
      return;
    }
    for (const Value operand : op->getOperands()) {
      auto wide = operand.getDefiningOp<mlir::arith::ExtFOp>();
      if (wide && is_half(wide.getIn())) wide.setFastmath(mlir::arith::FastMathFlags::none);
    }
  });
}

// f64 to bf16 has no direct way.
struct TruncateThroughF32 : mlir::OpRewritePattern<mlir::arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(mlir::arith::TruncFOp op, mlir::PatternRewriter& rewriter) const override {
    if (!mlir::getElementTypeOrSelf(op.getIn().getType()).isF64() ||
        !mlir::getElementTypeOrSelf(op.getType()).isBF16()) {
      return mlir::failure();
    }
    mlir::Type middle = rewriter.getF32Type();
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(op.getType())) middle = vector.clone(middle);
    const Value narrowed = rewriter.create<mlir::arith::TruncFOp>(op.getLoc(), middle, op.getIn());
    rewriter.replaceOpWithNewOp<mlir::arith::TruncFOp>(op, op.getType(), narrowed);
    return mlir::success();
  }
};

// To the nearest bf16, ties to the even one; a NaN becomes the quiet one. The choice stands first, where its result is read
// twice: LLVM moves one that stands last onto the bf16, and takes vectors of these apart, number by number.
struct RoundToBf16 : mlir::OpRewritePattern<mlir::arith::TruncFOp> {
  explicit RoundToBf16(mlir::MLIRContext* context) : OpRewritePattern(context, /*benefit=*/2) {}
  mlir::LogicalResult matchAndRewrite(mlir::arith::TruncFOp op, mlir::PatternRewriter& rewriter) const override {
    namespace arith = mlir::arith;
    if (!mlir::getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        !mlir::getElementTypeOrSelf(op.getType()).isBF16()) {
      return mlir::failure();
    }
    const mlir::Location location = op.getLoc();
    const auto like = [&](mlir::Type element) -> mlir::Type {
      auto vector = llvm::dyn_cast<mlir::VectorType>(op.getType());
      return vector ? vector.clone(element) : element;
    };
    const mlir::Type words = like(rewriter.getI32Type()), halves = like(rewriter.getI16Type());
    const auto constant = [&](int32_t number) -> Value {
      mlir::TypedAttr value = rewriter.getI32IntegerAttr(number);
      if (auto vector = llvm::dyn_cast<mlir::VectorType>(words)) value = mlir::DenseElementsAttr::get(vector, value);
      return rewriter.create<arith::ConstantOp>(location, value);
    };
    const Value is_nan = rewriter.create<arith::CmpFOp>(location, arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
    const Value given = rewriter.create<arith::BitcastOp>(location, words, op.getIn());
    const Value bits = rewriter.create<arith::SelectOp>(location, is_nan, constant(0x7FC00000), given);
    const Value last = rewriter.create<arith::ShRUIOp>(location, bits, constant(16));
    const Value odd = rewriter.create<arith::AndIOp>(location, last, constant(1));
    const Value half = rewriter.create<arith::AddIOp>(location, odd, constant(0x7FFF));
    const Value rounded = rewriter.create<arith::AddIOp>(location, bits, half);
    const Value shifted = rewriter.create<arith::ShRUIOp>(location, rounded, constant(16));
    const Value narrow = rewriter.create<arith::TruncIOp>(location, halves, shifted);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return mlir::success();
  }
};

struct ExtendThroughF32 : mlir::OpRewritePattern<mlir::arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(mlir::arith::ExtFOp op, mlir::PatternRewriter& rewriter) const override {
    if (!mlir::getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !mlir::getElementTypeOrSelf(op.getType()).isF64()) {
      return mlir::failure();
    }
    mlir::Type middle = rewriter.getF32Type();
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(op.getType())) middle = vector.clone(middle);
    const Value widened = rewriter.create<mlir::arith::ExtFOp>(op.getLoc(), middle, op.getIn());
    rewriter.replaceOpWithNewOp<mlir::arith::ExtFOp>(op, op.getType(), widened);
    return mlir::success();
  }
};

}  // namespace

mlir::LogicalResult lower_math(mlir::ModuleOp kernels, const Machine& target) {
  if (mlir::failed(compute_small_floats_in_f32(kernels))) return mlir::failure();
  keep_infinite_halves(kernels);
  mlir::RewritePatternSet patterns(kernels.getContext());
  patterns.add<TruncateThroughF32, RoundToBf16, ExtendThroughF32>(kernels.getContext());
  mlir::arith::populateExpandBFloat16Patterns(patterns);
  mlir::arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  if (mlir::failed(rewrite_greedily(kernels, std::move(patterns)))) return mlir::failure();
  return MathCalls(kernels, target).run();
}

}  // namespace baton::compiler_lite::codegen
