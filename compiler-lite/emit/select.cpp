#include "compiler-lite/emit/select.hpp"

#include "bytecode/instruction_info.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "compiler-lite/emit/constants.hpp"
#include "compiler-lite/emit/object_ops.hpp"
#include "compiler-lite/emit/scalar_ops.hpp"
#include "compiler-lite/emit/types.hpp"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::emit {

using bytecode::Opcode;
using bytecode::ValueType;
using namespace mlir;  // NOLINT: this file reads MLIR.

namespace {

bool fits_imm16(int64_t value) { return value >= INT16_MIN && value <= INT16_MAX; }

// Turns one region into virtual instructions. Its many methods are one for each kind of operation, and the few that they
// share.
class Selector {
 public:
  Selector(Region& body, bool is_boundary, ModuleTables& tables)
      : body_(body), is_boundary_(is_boundary), tables_(tables) {}

  FailureOr<Function> run() {
    for (mlir::Block& block : body_) {
      block_numbers_[&block] = static_cast<uint32_t>(function_.blocks.size());
      function_.blocks.emplace_back();
      for (const BlockArgument argument : block.getArguments()) {
        if (!value_type(argument.getType())) {
          return emitError(argument.getLoc())
                 << argument.getType() << " has no place in a register of the host program";
        }
        function_.blocks.back().parameters.push_back(register_of(argument));
      }
    }
    for (mlir::Block& block : body_) {
      at_ = &function_.blocks[block_numbers_[&block]];
      if (block.isEntryBlock() && is_boundary_) normalize_arguments(block);
      for (Operation& op : block) {
        location_ = tables_.location_of(op.getLoc());
        if (failed(select(op))) return mlir::failure();
      }
    }
    return std::move(function_);
  }

 private:
  // Registers and sources --------------------------------------------------------------------------------------------

  Register register_of(Value value) {
    const auto [found, is_new] = registers_.try_emplace(value, 0);
    if (is_new) found->second = function_.make_register(bank_of(value.getType()));
    return found->second;
  }

  // The constant that a value is, which needs no register where it is an argument.
  std::optional<Source> constant_of(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op) return std::nullopt;
    if (isa<util::NullOp>(op)) return Source{Source::Kind::kNull, 0};
    if (auto buffer = dyn_cast<util::BufferConstantOp>(op)) return Source{Source::Kind::kRodata, rodata_of(buffer)};
    auto constant = dyn_cast<arith::ConstantOp>(op);
    return constant ? constant_source(constant.getValue()) : std::nullopt;
  }

  std::optional<int64_t> integer_of(Value value) {
    const std::optional<Source> constant = constant_of(value);
    if (!constant) return std::nullopt;
    if (constant->kind == Source::Kind::kI32) return static_cast<int32_t>(constant->value);
    if (constant->kind == Source::Kind::kI64) return static_cast<int64_t>(constant->value);
    return std::nullopt;
  }

  // What an argument of a call or a branch is taken from.
  Source source_of(Value value) {
    if (std::optional<Source> constant = constant_of(value)) return *constant;
    return {Source::Kind::kRegister, register_of(value)};
  }

  // The register that holds the value. A constant that was not expected to need a register gets one here.
  Operand use_operand(Value value) {
    const std::optional<Source> constant = constant_of(value);
    if (!constant || registers_.contains(value)) return {true, register_of(value)};
    const Register reg = function_.make_register(bank_of(value.getType()));
    load(reg, *constant);
    return {true, reg};
  }

  void load(Register target, const Source& source) {
    const Operand to{true, target};
    switch (source.kind) {
      case Source::Kind::kI32: return emit(Opcode::const_i32, {to, {false, source.value}});
      case Source::Kind::kF32: return emit(Opcode::const_f32, {to, {false, source.value}});
      case Source::Kind::kF64: return emit(Opcode::const_f64, {to, {false, source.value}});
      case Source::Kind::kRodata: return emit(Opcode::rodata, {to, {false, source.value}});
      case Source::Kind::kNull: return emit(Opcode::null_ref, {to});
      case Source::Kind::kRegister: return;
      case Source::Kind::kI64: break;
    }
    const int64_t value = static_cast<int64_t>(source.value);
    if (value == static_cast<int32_t>(value))
      emit(Opcode::const_i64, {to, {false, static_cast<uint32_t>(value)}});
    else
      emit(Opcode::const_i64_wide, {to, {false, source.value}});
  }

  uint32_t rodata_of(util::BufferConstantOp buffer) {
    const std::vector<char> bytes = bytes_of(buffer.getValue());
    return tables_.rodata(buffer.getName().value_or("").str(), bytes);
  }

  // Instructions -----------------------------------------------------------------------------------------------------

  void push(Instruction instruction) {
    instruction.location = location_;
    at_->instructions.push_back(std::move(instruction));
  }
  void emit(Opcode opcode, std::vector<Operand> operands) {
    push({.kind = Instruction::Kind::kPlain, .opcode = opcode, .operands = std::move(operands)});
  }
  Operand define(Value value) { return {true, register_of(value)}; }

  void alias(Value value, Value of) { registers_[value] = static_cast<Register>(use_operand(of).value); }

  Edge edge_to(mlir::Block* block, ValueRange arguments) {
    Edge edge{block_numbers_[block], {}};
    for (const Value argument : arguments) edge.arguments.push_back(source_of(argument));
    return edge;
  }

  // Narrow integers come from outside sign-extended, or worse.
  void normalize_arguments(mlir::Block& entry) {
    for (const BlockArgument argument : entry.getArguments()) {
      if (!is_narrow(argument.getType())) continue;
      const Register raw = register_of(argument);
      const Register clean = function_.make_register(Bank::kValue);
      normalize(clean, raw, argument.getType());
      registers_[argument] = clean;
    }
  }

  void normalize(Register target, Register source, Type type) {
    const unsigned width = type.getIntOrFloatBitWidth();
    const Operand to{true, target}, from{true, source};
    if (width == 8) return emit(Opcode::extend8_u_i32, {to, from});
    if (width == 16) return emit(Opcode::extend16_u_i32, {to, from});
    if (width <= 15) return emit(Opcode::and_imm_i32, {to, from, {false, (uint64_t{1} << width) - 1}});
    const Register mask = function_.make_register(Bank::kValue);
    emit(Opcode::const_i32, {{true, mask}, {false, (uint64_t{1} << width) - 1}});
    emit(Opcode::and_i32, {to, from, {true, mask}});
  }

  Register sign_extended(Register source, Type type) {
    const unsigned width = type.getIntOrFloatBitWidth();
    if (width == 1) return source;
    const Register target = function_.make_register(Bank::kValue);
    const Operand to{true, target}, from{true, source};
    if (width == 8) {
      emit(Opcode::extend8_s_i32, {to, from});
    } else if (width == 16) {
      emit(Opcode::extend16_s_i32, {to, from});
    } else {
      emit(Opcode::shl_imm_i32, {to, from, {false, 32 - width}});
      const Register shifted = function_.make_register(Bank::kValue);
      emit(Opcode::shr_s_imm_i32, {{true, shifted}, to, {false, 32 - width}});
      return shifted;
    }
    return target;
  }

  // Operations -------------------------------------------------------------------------------------------------------

  LogicalResult select(Operation& op) {
    for (const Value result : op.getResults()) {
      if (value_type(result.getType())) continue;
      return op.emitOpError() << "makes a " << result.getType()
                              << ", which has no place in a register of the host program";
    }
    return llvm::TypeSwitch<Operation*, LogicalResult>(&op)
        .Case<arith::ConstantOp, util::BufferConstantOp, util::NullOp>([&](auto) { return constant(op); })
        .Case<arith::CmpIOp, arith::CmpFOp>([&](auto compare) { return select_compare(compare); })
        .Case<arith::SelectOp>([&](auto choice) { return select_choice(choice); })
        .Case<arith::BitcastOp, UnrealizedConversionCastOp>([&](auto) { return select_identity(op); })
        .Case<arith::MulSIExtendedOp, arith::MulUIExtendedOp, arith::AddUIExtendedOp>(
            [&](auto) { return select_extended(op); })
        .Case<util::OptimizationBarrierOp>([&](auto) { return select_identity(op); })
        .Case<util::GlobalLoadOp>([&](auto load_op) { return select_load(load_op); })
        .Case<util::GlobalStoreOp>([&](auto store) { return select_store(store); })
        .Case<util::CallOp>([&](auto call) { return select_call(call, call.getCallee(), {}); })
        .Case<vm::CallOp>([&](auto call) { return select_call(call, call.getCallee(), {}); })
        .Case<vm::CallVariadicOp>([&](auto call) { return select_call(call, call.getCallee(), call.getSegments()); })
        .Case<vm::ConstExecutableOp>([&](auto reference) { return select_executable(reference); })
        .Case<vm::ImportResolvedOp>([&](auto resolved) { return select_resolved(resolved); })
        .Case<cf::BranchOp>([&](auto branch) {
          push({.kind = Instruction::Kind::kJump, .edges = {edge_to(branch.getDest(), branch.getDestOperands())}});
          return success();
        })
        .Case<cf::CondBranchOp>([&](auto branch) { return select_branch(branch); })
        .Case<cf::SwitchOp>([&](auto choice) { return select_switch(choice); })
        .Case<cf::AssertOp>([&](auto assertion) { return select_assert(assertion); })
        .Case<util::ReturnOp>([&](auto returned) { return select_return(returned); })
        .Case<util::BufferCompareOp>([&](auto compare) { return select_comparison(compare); })
        .Default([&](Operation*) {
          const std::optional<ObjectInstruction> object = object_instruction(op);
          return object ? select_object(op, *object) : select_scalar(op);
        });
  }

  LogicalResult constant(Operation& op) {
    if (isa<arith::ConstantOp>(op) && !constant_of(op.getResult(0))) {
      return op.emitOpError() << "is of a type that the host program has no constants of";
    }
    const Value value = op.getResult(0);
    if (llvm::all_of(value.getUses(), [&](OpOperand& use) { return is_folded(use); })) return success();
    load(register_of(value), *constant_of(value));
    return success();
  }

  // Whether a use takes a constant without a register: as an argument, or in the instruction's own word.
  bool is_folded(OpOperand& use) {
    Operation* user = use.getOwner();
    if (isa<util::CallOp, vm::CallOp, vm::CallVariadicOp, util::ReturnOp, cf::BranchOp>(user)) return true;
    if (auto branch = dyn_cast<cf::CondBranchOp>(user)) return use.getOperandNumber() != 0;
    if (isa<cf::SwitchOp>(user)) return use.getOperandNumber() != 0;
    if (use.getOperandNumber() != 1) return false;
    if (auto compare = dyn_cast<arith::CmpIOp>(user)) {
      const std::optional<int64_t> value = integer_of(use.get());
      return value && fits_imm16(*value) && is_fused(*user) && immediate_form(compare.getPredicate(), false);
    }
    return immediate_opcode(*user).has_value();
  }

  LogicalResult select_identity(Operation& op) {
    if (op.getNumOperands() != op.getNumResults()) return op.emitOpError() << "does not convert one value to one";
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      if (bank_of(op.getOperand(i).getType()) != bank_of(op.getResult(i).getType())) {
        return op.emitOpError() << "takes " << op.getOperand(i).getType() << " for " << op.getResult(i).getType();
      }
      alias(op.getResult(i), op.getOperand(i));
    }
    return success();
  }

  LogicalResult select_object(Operation& op, const ObjectInstruction& object) {
    std::vector<Operand> operands;
    if (op.getNumResults() == 1) operands.push_back(define(op.getResult(0)));
    for (const Value operand : object.operands) operands.push_back(use_operand(operand));
    emit(object.opcode, std::move(operands));
    return success();
  }

  // The machine orders bytes; whether they are equal is what the program asks.
  LogicalResult select_comparison(util::BufferCompareOp compare) {
    const Operand order{true, function_.make_register(Bank::kValue)};
    const Operand zero{true, function_.make_register(Bank::kValue)};
    std::vector<Operand> operands = {order};
    const ObjectInstruction object = *object_instruction(*compare);
    for (const Value operand : object.operands) operands.push_back(use_operand(operand));
    emit(object.opcode, std::move(operands));
    emit(Opcode::const_i32, {zero, {false, 0}});
    emit(Opcode::cmp_eq_i32, {define(compare.getResult()), order, zero});
    return success();
  }

  LogicalResult select_scalar(Operation& op) {
    const StringRef name = op.getName().getStringRef();
    if (op.getNumResults() == 1 && op.getNumOperands() != 0 && op.getNumRegions() == 0) {
      const std::optional<ValueType> from = value_type(op.getOperand(0).getType());
      const std::optional<ValueType> to = value_type(op.getResult(0).getType());
      if (from && to && *from != ValueType::kRef) {
        if (const std::optional<WithImmediate> immediate = immediate_opcode(op)) {
          emit(immediate->opcode, {define(op.getResult(0)),
                                   use_operand(op.getOperand(0)),
                                   {false, static_cast<uint64_t>(immediate->value)}});
          return success();
        }
        if (std::optional<Opcode> opcode = scalar_opcode(name, *from)) {
          std::vector<Operand> operands = {define(op.getResult(0))};
          for (const Value operand : op.getOperands()) operands.push_back(use_operand(operand));
          emit(*opcode, std::move(operands));
          return success();
        }
        if (select_conversion(op, name, *from, *to)) return success();
      }
    }
    return op.emitOpError()
           << "can't be compiled for the host program; it takes scalar arith and math, cf, util, and calls";
  }

  bool select_conversion(Operation& op, StringRef name, ValueType from, ValueType to) {
    const Value source = op.getOperand(0), result = op.getResult(0);
    const Type source_type = source.getType(), type = result.getType();
    const auto half = [](Type each) -> std::optional<bool> {  // whether bf16
      if (each.isF16()) return false;
      if (each.isBF16()) return true;
      return std::nullopt;
    };
    if (name == "arith.extf" && half(source_type) && type.isF32()) {
      emit(*half(source_type) ? Opcode::extend_f32_bf16 : Opcode::extend_f32_f16,
           {define(result), use_operand(source)});
      return true;
    }
    if (name == "arith.truncf" && half(type) && source_type.isF32()) {
      emit(*half(type) ? Opcode::trunc_bf16_f32 : Opcode::trunc_f16_f32, {define(result), use_operand(source)});
      return true;
    }
    if (name == "arith.trunci" && is_narrow(type)) {
      Operand raw = use_operand(source);
      if (from == ValueType::kI64) {
        const Operand low{true, function_.make_register(Bank::kValue)};
        emit(Opcode::trunc_i32_i64, {low, raw});
        raw = low;
      }
      normalize(register_of(result), static_cast<Register>(raw.value), type);
      return true;
    }
    if ((name == "arith.extsi" || name == "arith.index_cast") && is_narrow(source_type)) {
      Register raw = static_cast<Register>(use_operand(source).value);
      if (source_type.isInteger(1)) {  // 1 is all ones.
        const Operand wide{true, to == ValueType::kI64 ? function_.make_register(Bank::kValue) : register_of(result)};
        const Operand zero{true, function_.make_register(Bank::kValue)};
        emit(Opcode::const_i32, {zero, {false, 0}});
        emit(Opcode::sub_i32, {wide, zero, {true, raw}});
        raw = static_cast<Register>(wide.value);
      } else {
        raw = sign_extended(raw, source_type);
      }
      if (to == ValueType::kI64)
        emit(Opcode::extend_s_i64_i32, {define(result), {true, raw}});
      else
        registers_[result] = raw;
      if (is_narrow(type)) {
        const Register clean = function_.make_register(Bank::kValue);
        normalize(clean, raw, type);
        registers_[result] = clean;
      }
      return true;
    }
    if (from == to && (name == "arith.extui" || name == "arith.index_cast" || name == "arith.index_castui")) {
      alias(result, source);
      return true;
    }
    const std::optional<Opcode> opcode = conversion_opcode(name, from, to);
    if (!opcode) return false;
    emit(*opcode, {define(result), use_operand(source)});
    return true;
  }

  struct WithImmediate {
    Opcode opcode;
    int64_t value;
  };

  // `add.imm.i32` where the right side is a small constant.
  std::optional<WithImmediate> immediate_opcode(Operation& op) {
    if (op.getNumOperands() != 2 || op.getNumResults() != 1) return std::nullopt;
    const StringRef name = op.getName().getStringRef();
    const std::optional<ValueType> type = value_type(op.getOperand(0).getType());
    if (type != ValueType::kI32 && type != ValueType::kI64) return std::nullopt;
    std::optional<int64_t> value = integer_of(op.getOperand(1));
    if (!value || !fits_imm16(*value)) return std::nullopt;
    const bool wide = type == ValueType::kI64;
#define PICK(row) \
  return WithImmediate { wide ? Opcode::row##_imm_i64 : Opcode::row##_imm_i32, *value }
    if (name == "arith.subi" && fits_imm16(-*value))
      value = -*value;
    else if (name == "arith.subi")
      return std::nullopt;
    if (name == "arith.addi" || name == "arith.subi") PICK(add);
    if (name == "arith.muli") PICK(mul);
    if (name == "arith.andi") PICK(and);
    if (name == "arith.shli") PICK(shl);
    if (name == "arith.shrsi") PICK(shr_s);
    if (name == "arith.shrui") PICK(shr_u);
#undef PICK
    return std::nullopt;
  }

  LogicalResult select_choice(arith::SelectOp choice) {
    if (!choice.getCondition().getType().isInteger(1)) return choice.emitOpError() << "chooses by a vector";
    const bool is_ref = bank_of(choice.getType()) == Bank::kRef;
    emit(is_ref ? Opcode::select_ref : Opcode::select,
         {define(choice.getResult()), use_operand(choice.getCondition()), use_operand(choice.getTrueValue()),
          use_operand(choice.getFalseValue())});
    return success();
  }

  // Both halves of a wide product, or a sum and its carry.
  LogicalResult select_extended(Operation& op) {
    if (is_narrow(op.getOperand(0).getType())) {
      return op.emitOpError() << "is for i32, i64 and index in the host program, and not for "
                              << op.getOperand(0).getType();
    }
    const bool wide = value_type(op.getOperand(0).getType()) == ValueType::kI64;
    const Operand a = use_operand(op.getOperand(0)), b = use_operand(op.getOperand(1));
    const Operand low = define(op.getResult(0)), high = define(op.getResult(1));
    if (isa<arith::AddUIExtendedOp>(op)) {
      emit(wide ? Opcode::add_i64 : Opcode::add_i32, {low, a, b});
      emit(wide ? Opcode::cmp_lt_u_i64 : Opcode::cmp_lt_u_i32, {high, low, a});
      return success();
    }
    emit(wide ? Opcode::mul_i64 : Opcode::mul_i32, {low, a, b});
    if (isa<arith::MulSIExtendedOp>(op))
      emit(wide ? Opcode::mulhi_s_i64 : Opcode::mulhi_s_i32, {high, a, b});
    else
      emit(wide ? Opcode::mulhi_u_i64 : Opcode::mulhi_u_i32, {high, a, b});
    return success();
  }

  // Comparisons ------------------------------------------------------------------------------------------------------

  // Whether every use of a comparison is a branch that can compare itself.
  bool is_fused(Operation& compare) {
    return !compare.use_empty() && llvm::all_of(compare.getUsers(), [&](Operation* user) {
      return isa<cf::CondBranchOp>(user) && user->getBlock() == compare.getBlock() && fused_opcode(compare);
    });
  }

  struct Fused {
    Opcode opcode;
    bool swapped = false;
  };

  std::optional<Fused> fused_opcode(Operation& op) {
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      const std::optional<ValueType> type = value_type(compare.getLhs().getType());
      if (!type || *type == ValueType::kRef) return std::nullopt;
      const bool wide = *type == ValueType::kI64;
#define PICK(name, swap) \
  return Fused { wide ? Opcode::br_##name##_i64 : Opcode::br_##name##_i32, swap }
      switch (compare.getPredicate()) {
        case arith::CmpIPredicate::eq: PICK(eq, false);
        case arith::CmpIPredicate::ne: PICK(ne, false);
        case arith::CmpIPredicate::slt: PICK(lt_s, false);
        case arith::CmpIPredicate::sle: PICK(le_s, false);
        case arith::CmpIPredicate::sgt: PICK(lt_s, true);
        case arith::CmpIPredicate::sge: PICK(le_s, true);
        case arith::CmpIPredicate::ult: PICK(lt_u, false);
        case arith::CmpIPredicate::ule: PICK(le_u, false);
        case arith::CmpIPredicate::ugt: PICK(lt_u, true);
        case arith::CmpIPredicate::uge: PICK(le_u, true);
      }
#undef PICK
      return std::nullopt;
    }
    auto compare = dyn_cast<arith::CmpFOp>(op);
    if (!compare) return std::nullopt;
    const bool wide = compare.getLhs().getType().isF64();
    if (!wide && !compare.getLhs().getType().isF32()) return std::nullopt;
#define PICK(name, swap) \
  return Fused { wide ? Opcode::br_##name##_f64 : Opcode::br_##name##_f32, swap }
    switch (compare.getPredicate()) {
      case arith::CmpFPredicate::OEQ: PICK(eq, false);
      case arith::CmpFPredicate::UNE: PICK(ne, false);
      case arith::CmpFPredicate::OLT: PICK(lt, false);
      case arith::CmpFPredicate::OLE: PICK(le, false);
      case arith::CmpFPredicate::OGT: PICK(lt, true);
      case arith::CmpFPredicate::OGE: PICK(le, true);
      case arith::CmpFPredicate::UGE: PICK(nlt, false);
      case arith::CmpFPredicate::UGT: PICK(nle, false);
      case arith::CmpFPredicate::ULE: PICK(nlt, true);
      case arith::CmpFPredicate::ULT: PICK(nle, true);
      default: return std::nullopt;
    }
#undef PICK
  }

  LogicalResult select_compare(arith::CmpIOp compare) {
    if (is_fused(*compare)) return success();
    const bool wide = value_type(compare.getLhs().getType()) == ValueType::kI64;
    Value lhs = compare.getLhs(), rhs = compare.getRhs();
    Opcode opcode = Opcode::nop;
#define PICK(name) opcode = wide ? Opcode::cmp_##name##_i64 : Opcode::cmp_##name##_i32
#define SWAPPED(name) std::swap(lhs, rhs), PICK(name)
    switch (compare.getPredicate()) {
      case arith::CmpIPredicate::eq: PICK(eq); break;
      case arith::CmpIPredicate::ne: PICK(ne); break;
      case arith::CmpIPredicate::slt: PICK(lt_s); break;
      case arith::CmpIPredicate::sle: PICK(le_s); break;
      case arith::CmpIPredicate::sgt: SWAPPED(lt_s); break;
      case arith::CmpIPredicate::sge: SWAPPED(le_s); break;
      case arith::CmpIPredicate::ult: PICK(lt_u); break;
      case arith::CmpIPredicate::ule: PICK(le_u); break;
      case arith::CmpIPredicate::ugt: SWAPPED(lt_u); break;
      case arith::CmpIPredicate::uge: SWAPPED(le_u); break;
    }
#undef SWAPPED
#undef PICK
    emit(opcode, {define(compare.getResult()), use_operand(lhs), use_operand(rhs)});
    return success();
  }

  LogicalResult select_compare(arith::CmpFOp compare) {
    if (is_fused(*compare)) return success();
    const bool wide = compare.getLhs().getType().isF64();
    if (!wide && !compare.getLhs().getType().isF32())
      return compare.emitOpError() << "compares " << compare.getLhs().getType();
    Value lhs = compare.getLhs(), rhs = compare.getRhs();
    Opcode opcode = Opcode::nop;
#define PICK(name) opcode = wide ? Opcode::cmp_##name##_f64 : Opcode::cmp_##name##_f32
#define SWAPPED(name) std::swap(lhs, rhs), PICK(name)
    switch (compare.getPredicate()) {
      case arith::CmpFPredicate::OEQ: PICK(oeq); break;
      case arith::CmpFPredicate::ONE: PICK(one); break;
      case arith::CmpFPredicate::OLT: PICK(olt); break;
      case arith::CmpFPredicate::OLE: PICK(ole); break;
      case arith::CmpFPredicate::OGT: SWAPPED(olt); break;
      case arith::CmpFPredicate::OGE: SWAPPED(ole); break;
      case arith::CmpFPredicate::ORD: PICK(ord); break;
      case arith::CmpFPredicate::UEQ: PICK(ueq); break;
      case arith::CmpFPredicate::UNE: PICK(une); break;
      case arith::CmpFPredicate::ULT: PICK(ult); break;
      case arith::CmpFPredicate::ULE: PICK(ule); break;
      case arith::CmpFPredicate::UGT: SWAPPED(ult); break;
      case arith::CmpFPredicate::UGE: SWAPPED(ule); break;
      case arith::CmpFPredicate::UNO: PICK(uno); break;
      case arith::CmpFPredicate::AlwaysTrue:
      case arith::CmpFPredicate::AlwaysFalse:
        emit(Opcode::const_i32, {define(compare.getResult()),
                                 {false, compare.getPredicate() == arith::CmpFPredicate::AlwaysTrue ? 1u : 0u}});
        return success();
    }
#undef SWAPPED
#undef PICK
    emit(opcode, {define(compare.getResult()), use_operand(lhs), use_operand(rhs)});
    return success();
  }

  // Control ----------------------------------------------------------------------------------------------------------

  // `br.lt.s.imm.i32` where the right side is a small constant.
  std::optional<Opcode> immediate_form(arith::CmpIPredicate predicate, bool wide) {
#define PICK(name) return wide ? Opcode::br_##name##_imm_i64 : Opcode::br_##name##_imm_i32
    switch (predicate) {
      case arith::CmpIPredicate::eq: PICK(eq);
      case arith::CmpIPredicate::ne: PICK(ne);
      case arith::CmpIPredicate::slt: PICK(lt_s);
      case arith::CmpIPredicate::sle: PICK(le_s);
      case arith::CmpIPredicate::sgt: PICK(gt_s);
      case arith::CmpIPredicate::sge: PICK(ge_s);
      default: return std::nullopt;
    }
#undef PICK
  }

  LogicalResult select_branch(cf::CondBranchOp branch) {
    Instruction instruction{.kind = Instruction::Kind::kBranch};
    Operation* compare = branch.getCondition().getDefiningOp();
    const std::optional<Fused> fused = compare && is_fused(*compare) ? fused_opcode(*compare) : std::nullopt;
    if (fused) {
      if (auto integers = dyn_cast<arith::CmpIOp>(compare)) {
        const std::optional<int64_t> value = integer_of(integers.getRhs());
        const bool wide = value_type(integers.getLhs().getType()) == ValueType::kI64;
        const std::optional<Opcode> immediate = immediate_form(integers.getPredicate(), wide);
        if (value && immediate && fits_imm16(*value)) {
          instruction.opcode = *immediate;
          instruction.operands = {use_operand(integers.getLhs()), {false, static_cast<uint64_t>(*value)}};
        }
      }
      if (instruction.operands.empty()) {
        instruction.opcode = fused->opcode;
        instruction.operands = {use_operand(compare->getOperand(fused->swapped ? 1 : 0)),
                                use_operand(compare->getOperand(fused->swapped ? 0 : 1))};
      }
    } else {
      instruction.opcode = Opcode::br_if;
      instruction.operands = {use_operand(branch.getCondition())};
    }
    instruction.edges = {edge_to(branch.getTrueDest(), branch.getTrueDestOperands()),
                         edge_to(branch.getFalseDest(), branch.getFalseDestOperands())};
    push(std::move(instruction));
    return success();
  }

  // A table when the cases lie close together, else one comparison after the other.
  LogicalResult select_switch(cf::SwitchOp choice) {
    const std::optional<DenseIntElementsAttr> values = choice.getCaseValues();
    const Edge otherwise = edge_to(choice.getDefaultDestination(), choice.getDefaultOperands());
    if (!values) {
      push({.kind = Instruction::Kind::kJump, .edges = {otherwise}});
      return success();
    }
    std::vector<std::pair<int64_t, Edge>> cases;
    for (unsigned i = 0; i < choice.getCaseDestinations().size(); ++i) {
      const APInt value = values->getValues<APInt>()[i];
      cases.push_back(
          {is_narrow(choice.getFlag().getType()) ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue(),
           edge_to(choice.getCaseDestinations()[i], choice.getCaseOperands(i))});
    }
    const bool wide = value_type(choice.getFlag().getType()) == ValueType::kI64;
    const Operand flag = use_operand(choice.getFlag());
    int64_t last = -1;
    bool small = !wide;
    for (const auto& [value, edge] : cases) {
      small = small && value >= 0 && value < 256;
      last = std::max(last, value);
    }
    if (small && cases.size() >= 3) {
      std::vector<Edge> edges(static_cast<size_t>(last + 2), otherwise);
      for (const auto& [value, edge] : cases) edges[static_cast<size_t>(value)] = edge;
      push({.kind = Instruction::Kind::kTable,
            .opcode = Opcode::br_table,
            .operands = {flag},
            .edges = std::move(edges)});
      return success();
    }
    for (size_t i = 0; i < cases.size(); ++i) {
      Instruction test{.kind = Instruction::Kind::kBranch};
      if (fits_imm16(cases[i].first)) {
        test.opcode = wide ? Opcode::br_eq_imm_i64 : Opcode::br_eq_imm_i32;
        test.operands = {flag, {false, static_cast<uint64_t>(cases[i].first)}};
      } else {
        const Register value = function_.make_register(Bank::kValue);
        load(value, {wide ? Source::Kind::kI64 : Source::Kind::kI32, static_cast<uint64_t>(cases[i].first)});
        test.opcode = wide ? Opcode::br_eq_i64 : Opcode::br_eq_i32;
        test.operands = {flag, {true, value}};
      }
      const bool is_last = i + 1 == cases.size();
      const uint32_t next = static_cast<uint32_t>(function_.blocks.size());
      test.edges = {cases[i].second, is_last ? otherwise : Edge{next, {}}};
      push(std::move(test));
      if (is_last) break;
      function_.blocks.emplace_back();  // May move all blocks.
      at_ = &function_.blocks.back();
    }
    return success();
  }

  LogicalResult select_assert(cf::AssertOp assertion) {
    const StringRef message = assertion.getMsg();
    emit(Opcode::assert_true, {use_operand(assertion.getArg()),
                               {false, tables_.rodata("", ArrayRef<char>(message.data(), message.size()))}});
    return success();
  }

  LogicalResult select_return(util::ReturnOp returned) {
    Instruction instruction{.kind = Instruction::Kind::kReturn, .opcode = Opcode::ret};
    for (const Value value : returned.getOperands()) {
      Source source = source_of(value);
      if (is_boundary_) source = outward(source, value.getType());
      instruction.arguments.push_back(source);
    }
    push(std::move(instruction));
    return success();
  }

  // A narrow integer as others see it.
  Source outward(const Source& source, Type type) {
    if (!is_narrow(type)) return source;
    if (source.is_register())
      return {Source::Kind::kRegister, sign_extended(static_cast<Register>(source.value), type)};
    const unsigned width = type.getIntOrFloatBitWidth();
    if (width == 1) return source;
    const int64_t value = APInt(width, source.value).getSExtValue();
    return {Source::Kind::kI32, static_cast<uint32_t>(value)};
  }

  // Calls and state --------------------------------------------------------------------------------------------------

  // The same in a register, where vm.signature may name another width; and references of one type, where both say which.
  static bool is_as_declared(Type given, Type declared, bool has_signature) {
    const auto is_integer = [](ValueType type) { return type == ValueType::kI32 || type == ValueType::kI64; };
    const std::optional<ValueType> a = value_type(given), b = value_type(declared);
    if (!a || !b) return false;
    if (*a != *b) return has_signature && is_integer(*a) && is_integer(*b);
    if (*a != ValueType::kRef) return true;
    const std::string name = ref_type_name(given), other = ref_type_name(declared);
    return name.empty() || other.empty() || name == other;
  }

  // What the callee takes, each repeated argument as often as the call says.
  LogicalResult check_call(Operation* op, StringRef name, const ModuleTables::Callee& callee,
                           ArrayRef<int32_t> segments) {
    const auto refuse = [&] {
      return op->emitOpError() << "is not as @" << name << " is declared, " << callee.machine_type;
    };
    SmallVector<Type> wanted;
    size_t next = 0;
    for (unsigned i = 0; i < callee.machine_type.getNumInputs(); ++i) {
      const Type type = callee.machine_type.getInput(i);
      const bool repeats = i < callee.repeated.size() && callee.repeated[i];
      if (repeats && next == segments.size()) return refuse();
      const int32_t times = repeats ? segments[next++] : 1;
      const auto tuple = dyn_cast<TupleType>(type);
      const size_t parts = tuple ? tuple.size() : 1;
      if (times < 0 || static_cast<size_t>(times) * parts > op->getNumOperands()) return refuse();
      for (int32_t j = 0; j < times; ++j) {
        if (tuple)
          llvm::append_range(wanted, tuple.getTypes());
        else
          wanted.push_back(type);
      }
    }
    const auto fits = [&](Type given, Type type) { return is_as_declared(given, type, callee.has_signature); };
    const bool is_good = next == segments.size() && wanted.size() == op->getNumOperands() &&
                         callee.machine_type.getNumResults() == op->getNumResults() &&
                         llvm::all_of_zip(op->getOperandTypes(), wanted, fits) &&
                         llvm::all_of_zip(op->getResultTypes(), callee.machine_type.getResults(), fits);
    return is_good ? success() : refuse();
  }

  LogicalResult select_call(Operation* op, StringRef name, ArrayRef<int32_t> segments) {
    const auto found = tables_.callees.find(name.str());
    if (found == tables_.callees.end()) return op->emitOpError() << "calls @" << name << ", which is not declared";
    const ModuleTables::Callee& callee = found->second;
    if (failed(check_call(op, name, callee, segments))) return mlir::failure();
    Instruction call{.kind = Instruction::Kind::kCall};
    call.callee = callee.index;
    call.opcode = !callee.is_import ? Opcode::call : segments.empty() ? Opcode::call_import : Opcode::call_variadic;
    for (const int32_t segment : segments) call.segments.push_back(static_cast<uint64_t>(segment));
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const Value value = op->getOperand(i);
      Source source = source_of(value);
      if (callee.is_boundary) source = outward(source, value.getType());
      if (segments.empty()) source = converted(source, value.getType(), callee.machine_type.getInput(i));
      call.arguments.push_back(source);
    }
    std::vector<std::pair<Value, Register>> raw;  // Results that must be converted first.
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      const Value result = op->getResult(i);
      const bool same = value_type(callee.machine_type.getResult(i)) == value_type(result.getType());
      if (same && !(callee.is_boundary && is_narrow(result.getType()))) {
        call.results.push_back(register_of(result));
        continue;
      }
      raw.push_back({result, function_.make_register(bank_of(callee.machine_type.getResult(i)))});
      call.results.push_back(raw.back().second);
    }
    push(std::move(call));
    for (const auto& [result, from] : raw) {
      const unsigned number = cast<OpResult>(result).getResultNumber();
      const Source cast =
          converted({Source::Kind::kRegister, from}, callee.machine_type.getResult(number), result.getType());
      registers_[result] = static_cast<Register>(cast.value);
      if (!is_narrow(result.getType())) continue;
      const Register clean = function_.make_register(Bank::kValue);
      normalize(clean, static_cast<Register>(cast.value), result.getType());
      registers_[result] = clean;
    }
    return success();
  }

  // Between i32 and i64, where vm.signature names another width than the program uses.
  Source converted(const Source& source, Type from, Type to) {
    const std::optional<ValueType> a = value_type(from), b = value_type(to);
    if (!a || !b || *a == *b || *a == ValueType::kRef) return source;
    const bool widens = *b == ValueType::kI64;
    if (!source.is_register()) {
      return widens ? Source{Source::Kind::kI64, static_cast<uint64_t>(int64_t{static_cast<int32_t>(source.value)})}
                    : Source{Source::Kind::kI32, static_cast<uint32_t>(source.value)};
    }
    const Register target = function_.make_register(Bank::kValue);
    emit(widens ? Opcode::extend_s_i64_i32 : Opcode::trunc_i32_i64, {{true, target}, {true, source.value}});
    return {Source::Kind::kRegister, target};
  }

  LogicalResult select_resolved(vm::ImportResolvedOp resolved) {
    const auto found = tables_.callees.find(resolved.getImport().str());
    if (found == tables_.callees.end() || !found->second.is_import) {
      return resolved.emitOpError() << "names @" << resolved.getImport() << ", which is no import";
    }
    emit(Opcode::import_resolved, {define(resolved.getResult()), {false, found->second.index}});
    return success();
  }

  LogicalResult select_executable(vm::ConstExecutableOp reference) {
    const auto found = tables_.executables.find(reference.getExecutable().str());
    if (found == tables_.executables.end()) {
      return reference.emitOpError() << "names @" << reference.getExecutable() << ", which is no executable";
    }
    emit(Opcode::executable, {define(reference.getResult()), {false, found->second}});
    return success();
  }

  LogicalResult select_load(util::GlobalLoadOp load_op) {
    const bool is_ref = bank_of(load_op.getType()) == Bank::kRef;
    emit(is_ref ? Opcode::global_get_ref : Opcode::global_get,
         {define(load_op.getResult()), {false, tables_.globals.find(load_op.getGlobal())->second}});
    return success();
  }

  LogicalResult select_store(util::GlobalStoreOp store) {
    const bool is_ref = bank_of(store.getValue().getType()) == Bank::kRef;
    emit(is_ref ? Opcode::global_set_ref : Opcode::global_set,
         {use_operand(store.getValue()), {false, tables_.globals.find(store.getGlobal())->second}});
    return success();
  }

  Region& body_;
  bool is_boundary_;
  ModuleTables& tables_;
  Function function_;
  emit::Block* at_ = nullptr;
  Location location_;
  llvm::DenseMap<Value, Register> registers_;
  llvm::DenseMap<mlir::Block*, uint32_t> block_numbers_;
};

}  // namespace

FailureOr<Function> select_function(Region& body, bool is_boundary, ModuleTables& tables) {
  return Selector(body, is_boundary, tables).run();
}

}  // namespace baton::compiler_lite::emit
