#include "compiler-lite/codegen/gpu/thread_code.hpp"

#include "compiler-lite/codegen/gpu/combine.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Value;
using mlir::ValueRange;

namespace {

constexpr auto kContract = arith::FastMathFlags::contract;

}  // namespace

ThreadCode::ThreadCode(mlir::func::FuncOp kernel, const Features& features)
    : kernel_(kernel),
      builder_(kernel.getBody().front().getTerminator()),
      location_(kernel.getLoc()),
      block_(kernel, features) {
  for (const mlir::Attribute type : kernel->getAttrOfType<mlir::ArrayAttr>(kBindingTypes)) {
    binding_types_.push_back(llvm::cast<mlir::MemRefType>(llvm::cast<mlir::TypeAttr>(type).getValue()));
  }
}

Value ThreadCode::thread() { return block_.thread(); }
Value ThreadCode::workgroup() { return make_workgroup_id(builder_, location_, 0); }
Value ThreadCode::binding(unsigned number) {
  return make_subspan(builder_, location_, *noted_layout(kernel_), number, binding_types_[number], {});
}
Value ThreadCode::constant_word(unsigned number) {
  return make_constant_load(builder_, location_, *noted_layout(kernel_), number);
}
Value ThreadCode::shared(int64_t count, mlir::Type element) {
  mlir::OpBuilder begin = mlir::OpBuilder::atBlockBegin(&kernel_.getBody().front());
  return begin.create<memref::AllocOp>(location_, mlir::MemRefType::get({count}, element),
                                       builder_.getI64IntegerAttr(16));
}
void ThreadCode::barrier() {
  if (block_.threads() > 1) Block::barrier(builder_, location_);
}

Value ThreadCode::index(int64_t number) { return builder_.create<arith::ConstantIndexOp>(location_, number); }
Value ThreadCode::add(Value a, Value b) { return builder_.createOrFold<arith::AddIOp>(location_, a, b); }
Value ThreadCode::subtract(Value a, Value b) { return builder_.createOrFold<arith::SubIOp>(location_, a, b); }
Value ThreadCode::times(Value a, int64_t factor) {
  return builder_.createOrFold<arith::MulIOp>(location_, a, index(factor));
}
Value ThreadCode::quotient(Value a, int64_t by) {
  return builder_.createOrFold<arith::DivUIOp>(location_, a, index(by));
}
Value ThreadCode::remainder(Value a, int64_t by) {
  return builder_.createOrFold<arith::RemUIOp>(location_, a, index(by));
}
Value ThreadCode::is_below(Value a, Value b) {
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, a, b);
}
Value ThreadCode::is_same(Value a, Value b) {
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, a, b);
}
Value ThreadCode::wrapped(Value a, int64_t size) { return choose(is_below(a, size), a, subtract(a, index(size))); }
Value ThreadCode::to_index(Value number) {
  return builder_.create<arith::IndexCastUIOp>(location_, builder_.getIndexType(), number);
}

Value ThreadCode::at_most(Value a, int64_t most) { return builder_.create<arith::MinUIOp>(location_, a, index(most)); }
Value ThreadCode::to_word(Value number) {
  return builder_.create<arith::IndexCastUIOp>(location_, builder_.getI32Type(), number);
}

Value ThreadCode::number(mlir::Type type, double value) {
  return builder_.create<arith::ConstantOp>(location_, builder_.getFloatAttr(type, value));
}
Value ThreadCode::plus(Value a, Value b) { return builder_.create<arith::AddFOp>(location_, a, b, kContract); }
Value ThreadCode::minus(Value a, Value b) { return builder_.create<arith::SubFOp>(location_, a, b, kContract); }
Value ThreadCode::product(Value a, Value b) { return builder_.create<arith::MulFOp>(location_, a, b, kContract); }
Value ThreadCode::over(Value a, Value b) { return builder_.create<arith::DivFOp>(location_, a, b); }
Value ThreadCode::size(Value a) { return builder_.create<mlir::math::AbsFOp>(location_, a); }
Value ThreadCode::root(Value a) { return builder_.create<mlir::math::SqrtOp>(location_, a); }
Value ThreadCode::is_larger(Value a, Value b) {
  return builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::OGT, a, b);
}
Value ThreadCode::larger(Value a, Value b) { return builder_.create<arith::MaximumFOp>(location_, a, b); }
Value ThreadCode::is_equal(Value a, Value b) {
  return builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::OEQ, a, b);
}
Value ThreadCode::is_less(Value a, Value b) {
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, a, b);
}
Value ThreadCode::is_not_zero(Value word_asked) {
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, word_asked, word(0));
}
Value ThreadCode::both(Value a, Value b) { return builder_.create<arith::AndIOp>(location_, a, b); }
Value ThreadCode::either(Value a, Value b) { return builder_.create<arith::OrIOp>(location_, a, b); }
Value ThreadCode::choose(Value condition, Value a, Value b) {
  return builder_.create<arith::SelectOp>(location_, condition, a, b);
}
Value ThreadCode::no() { return builder_.create<arith::ConstantIntOp>(location_, 0, 1); }
Value ThreadCode::word(int32_t number) { return builder_.create<arith::ConstantIntOp>(location_, number, 32); }
Value ThreadCode::as_word(Value flag) {
  return builder_.create<arith::ExtUIOp>(location_, builder_.getI32Type(), flag);
}

Value ThreadCode::load(Value memory, ValueRange place) {
  return builder_.create<memref::LoadOp>(location_, memory, place);
}
void ThreadCode::store(Value value, Value memory, ValueRange place) {
  builder_.create<memref::StoreOp>(location_, value, memory, place);
}

void ThreadCode::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = builder_.create<scf::IfOp>(location_, condition, /*withElseRegion=*/false);
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

Value ThreadCode::either_way(Value condition, mlir::Type type, llvm::function_ref<Value()> then,
                             llvm::function_ref<Value()> otherwise) {
  auto branch = builder_.create<scf::IfOp>(location_, mlir::TypeRange(type), condition, /*addThenBlock=*/true,
                                           /*addElseBlock=*/true);
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(branch.thenBlock());
  builder_.create<scf::YieldOp>(location_, then());
  builder_.setInsertionPointToEnd(branch.elseBlock());
  builder_.create<scf::YieldOp>(location_, otherwise());
  return branch.getResult(0);
}

void ThreadCode::loop(Value begin, Value end, Value step, llvm::function_ref<void(Value)> body) {
  auto made = builder_.create<scf::ForOp>(location_, begin, end, step);
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(made.getBody());
  body(made.getInductionVar());
}

ThreadCode::Values ThreadCode::loop(Value begin, Value end, Value step, ValueRange carried,
                                    llvm::function_ref<Values(Value, ValueRange)> body) {
  auto made = builder_.create<scf::ForOp>(location_, begin, end, step, carried);
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(made.getBody());
  const Values handed = body(made.getInductionVar(), made.getRegionIterArgs());
  builder_.create<scf::YieldOp>(location_, handed);
  return Values(made.getResults());
}

void ThreadCode::repeat(int64_t turns_max, llvm::function_ref<Value(Value)> body) {
  const Value yes = builder_.create<arith::ConstantIntOp>(location_, 1, 1), none = index(0);
  const mlir::Type types[] = {none.getType(), yes.getType()};
  auto made = builder_.create<scf::WhileOp>(location_, types, ValueRange{none, yes});
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  const mlir::Location locations[] = {location_, location_};
  mlir::Block* const before = builder_.createBlock(&made.getBefore(), {}, types, locations);
  const Value goes_on = both(before->getArgument(1), is_below(before->getArgument(0), turns_max));
  builder_.create<scf::ConditionOp>(location_, goes_on, before->getArguments());
  mlir::Block* const after = builder_.createBlock(&made.getAfter(), {}, types, locations);
  const Value again = body(after->getArgument(0));
  builder_.create<scf::YieldOp>(location_, ValueRange{add(after->getArgument(0), 1), again});
}

void ThreadCode::strided(int64_t count, llvm::function_ref<void(Value)> body) {
  const int64_t threads = block_.threads();
  if (count <= threads) {
    if (count == threads) return body(thread());
    return when(is_below(thread(), count), [&] { body(thread()); });
  }
  loop(thread(), index(count), index(threads), body);
}

void ThreadCode::move(int64_t count, llvm::function_ref<Value(Value)> read,
                      llvm::function_ref<void(Value, Value)> write) {
  const int64_t threads = block_.threads();
  move(thread(), count, threads, llvm::divideCeilSigned(count, threads), read, write);
}

void ThreadCode::move(Value begin, int64_t end, int64_t step, int64_t about, llvm::function_ref<Value(Value)> read,
                      llvm::function_ref<void(Value, Value)> write) {
  constexpr int64_t kAtOnceMax = 16;
  const int64_t turns = llvm::divideCeilSigned(about, kAtOnceMax), at_once = llvm::divideCeilSigned(about, turns);
  loop(begin, index(end), index(at_once * step), [&](Value first) {
    Values places, numbers;
    for (int64_t i = 0; i < at_once; ++i) {
      places.push_back(add(first, i * step));
      numbers.push_back(read(i == 0 ? first : at_most(places.back(), end - 1)));
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (i == 0) {
        write(places[i], numbers[i]);
      } else {
        when(is_below(places[i], end), [&] { write(places[i], numbers[i]); });
      }
    }
  });
}

void ThreadCode::join_lanes(Values& parts, int64_t lanes, Join join) {
  if (lanes == 1) return;
  if (joins_in_registers(lanes)) {
    for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
      Values others;
      for (const Value part : parts) others.push_back(shuffle(builder_, location_, part, distance));
      parts = join(parts, others);
    }
    return;
  }
  const int64_t threads = block_.threads();
  Values memories;
  for (const Value part : parts) {
    memories.push_back(
        block_.shared(mlir::MemRefType::get({threads}, part.getType()), static_cast<unsigned>(memories.size())));
    store(part, memories.back(), thread());
  }
  barrier();
  const Value first = subtract(thread(), remainder(thread(), lanes));
  const auto parts_at = [&](Value place) {
    Values all;
    for (const Value memory : memories) all.push_back(load(memory, place));
    return all;
  };
  parts = parts_at(first);
  for (int64_t lane = 1; lane < lanes; ++lane) parts = join(parts, parts_at(add(first, lane)));
}

void ThreadCode::sum_over_lanes(Values& parts, int64_t lanes) {
  join_lanes(parts, lanes, [&](ValueRange a, ValueRange b) {
    Values sums;
    for (size_t i = 0; i < a.size(); ++i) sums.push_back(plus(a[i], b[i]));
    return sums;
  });
}

Value ThreadCode::sum_over_lanes(Value part, int64_t lanes) {
  Values parts = {part};
  sum_over_lanes(parts, lanes);
  return parts[0];
}

}  // namespace baton::compiler_lite::codegen::gpu
