#include "compiler-lite/codegen/cpu/calls.hpp"

#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/llvm/linked_calls.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// In memory a truth value is a byte.
mlir::Type field_type(mlir::Type type) {
  return type.isInteger(1) ? mlir::IntegerType::get(type.getContext(), 8) : type;
}

}  // namespace

mlir::LogicalResult ExternalCalls::lower(mlir::func::CallOp call) {
  auto declaration =
      mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr().getAttr());
  if (!declaration || !declaration.isExternal()) return mlir::success();
  OpBuilder builder(call);
  if (is_import_question(declaration)) return answer(builder, call, declaration);
  mlir::FailureOr<llvm::SmallVector<Value>> operands =
      flatten_operands(builder, call, has_bare_pointers(declaration), types_);
  if (mlir::failed(operands)) return mlir::failure();
  return is_static_import(declaration) ? call_linked(builder, call, declaration, *operands, types_)
                                       : call_import(builder, call, declaration, *operands);
}

mlir::LogicalResult ExternalCalls::append_fields(OpBuilder& builder, mlir::func::FuncOp declaration,
                                                 llvm::SmallVectorImpl<Value>& values) {
  const auto fields = declaration->getAttrOfType<mlir::ArrayAttr>("hal.import.fields");
  if (!fields) return mlir::success();
  const Location location = declaration.getLoc();
  for (const mlir::Attribute field : fields) {
    const auto name = llvm::dyn_cast<mlir::StringAttr>(field);
    if (name && name.getValue() == "processor_id") {
      values.push_back(pointers_.load(builder, location, pointers_.workgroup(), layout::kWorkgroupProcessorId,
                                      builder.getI32Type()));
    } else if (name && name.getValue() == "processor_data") {
      values.push_back(
          pointers_.address(builder, location, pointers_.environment(), layout::kEnvironmentProcessorData));
    } else {
      return declaration.emitError("The import '") << declaration.getSymName() << "' asks for the field " << field
                                                   << "; the fields are \"processor_id\" and \"processor_data\".";
    }
  }
  return mlir::success();
}

mlir::LogicalResult ExternalCalls::answer(OpBuilder& builder, mlir::func::CallOp call, mlir::func::FuncOp declaration) {
  const Location location = call.getLoc();
  const mlir::Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  const Value functions =
      pointers_.load_pointer(builder, location, pointers_.environment(), layout::kEnvironmentImportFunctions);
  const Value function =
      pointers_.load_pointer(builder, location, functions, uint64_t{8} * imports_.ordinal_of(declaration));
  const Value null = builder.create<LLVM::ZeroOp>(location, pointer);
  replace_results(builder, call,
                  builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::ne, function, null).getResult());
  return mlir::success();
}

mlir::LogicalResult ExternalCalls::call_import(OpBuilder& builder, mlir::func::CallOp call,
                                               mlir::func::FuncOp declaration, llvm::ArrayRef<Value> operands) {
  const Location location = call.getLoc();
  const mlir::Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  llvm::SmallVector<Value> values(operands);
  if (mlir::failed(append_fields(builder, declaration, values))) return mlir::failure();

  llvm::SmallVector<mlir::Type> types;
  for (const mlir::Type type : call.getResultTypes()) types.push_back(field_type(types_.convertType(type)));
  for (const Value value : values) types.push_back(field_type(value.getType()));
  const auto params_type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  // In the entry block: one for the kernel, however often a loop calls.
  OpBuilder at_entry = OpBuilder::atBlockBegin(&body_.getBody().front());
  const Value one = make_i64(at_entry, location, 1);
  const Value params = at_entry.create<LLVM::AllocaOp>(location, pointer, params_type, one, /*alignment=*/16);
  const auto field_address = [&](OpBuilder& at, unsigned field) -> Value {
    return at.create<LLVM::GEPOp>(location, pointer, params_type, params,
                                  llvm::ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(field)}, /*inbounds=*/true);
  };
  for (unsigned i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (value.getType().isInteger(1)) value = builder.create<LLVM::ZExtOp>(location, builder.getI8Type(), value);
    builder.create<LLVM::StoreOp>(location, value, field_address(builder, call.getNumResults() + i));
  }

  const uint64_t at = 8 * imports_.ordinal_of(declaration);
  const Value environment = pointers_.environment();
  const Value thunk = pointers_.load_pointer(builder, location, environment, layout::kEnvironmentImportThunk);
  const Value functions = pointers_.load_pointer(builder, location, environment, layout::kEnvironmentImportFunctions);
  const Value contexts = pointers_.load_pointer(builder, location, environment, layout::kEnvironmentImportContexts);
  const Value null = builder.create<LLVM::ZeroOp>(location, pointer);
  const auto thunk_type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer, pointer, pointer});
  const Value status =
      builder
          .create<LLVM::CallOp>(location, thunk_type,
                                mlir::ValueRange{thunk, pointers_.load_pointer(builder, location, functions, at),
                                                 params, pointers_.load_pointer(builder, location, contexts, at), null})
          .getResult();
  llvm::SmallVector<Value> results;
  return_unless_zero(builder, location, status, call);
  for (unsigned i = 0; i < call.getNumResults(); ++i) {
    Value value = builder.create<LLVM::LoadOp>(location, types[i], field_address(builder, i));
    const mlir::Type wanted = types_.convertType(call.getResult(i).getType());
    if (value.getType() != wanted) value = builder.create<LLVM::TruncOp>(location, wanted, value);
    results.push_back(value);
  }
  replace_results(builder, call, results);
  return mlir::success();
}

// Ends the kernel with what the import returned, when that isn't 0. Afterwards `builder` stands where it goes on.
void ExternalCalls::return_unless_zero(OpBuilder& builder, Location location, Value status, mlir::Operation* call) {
  mlir::Block* before = call->getBlock();
  mlir::Block* rest = before->splitBlock(call);
  mlir::Block* failed = builder.createBlock(rest);
  builder.create<mlir::func::ReturnOp>(location, status);
  builder.setInsertionPointToEnd(before);
  const Value good =
      builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::eq, status, make_i32(builder, location, 0));
  builder.create<mlir::cf::CondBranchOp>(location, good, rest, failed);
  builder.setInsertionPoint(call);
}

}  // namespace baton::compiler_lite::codegen::cpu
