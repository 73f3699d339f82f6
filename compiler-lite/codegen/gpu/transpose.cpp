// The square of an operand lies in shared memory with the loop `turned` as its rows and `fastest` as its columns:
//
//   for t0, f0 in squares
//     every thread: elements along t from memory, one below the other into the square
//     every thread: elements along f from the square; the body; elements along f to memory
//
// In each row of the square groups of elements stand in another order (by exclusive or), so that neither the elements
// of a column nor the groups of a row meet in the same bank.
#include "compiler-lite/codegen/gpu/transpose.hpp"

#include "compiler-lite/codegen/gpu/vectors.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr int64_t kSquare = 64;
// Squares of that many operands fit beside each other wherever code for sm_75 runs.
constexpr size_t kTurnedMax = 2;
constexpr int64_t kLanesMax = 8;

struct Turn {
  unsigned turned = 0, fastest = 0;
  llvm::SmallVector<unsigned> operands;  // Which are read along `turned`.
  int64_t lanes = 1;
};

// The loop, other than `fastest`, along which an operand's elements follow each other.
std::optional<unsigned> turned_loop(linalg::GenericOp op, mlir::OpOperand& operand, unsigned fastest) {
  if (step_of(op, operand, fastest) != Step::kElsewhere) return std::nullopt;
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto last = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResults().back());
  if (!last || step_of(op, operand, last.getPosition()) != Step::kNext) return std::nullopt;
  return last.getPosition();
}

std::optional<Turn> find_turn(linalg::GenericOp op, unsigned fastest) {
  Turn turn{0, fastest, {}, kLanesMax};
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const bool is_result = op.isDpsInit(&operand);
    const std::optional<unsigned> loop = is_result ? std::nullopt : turned_loop(op, operand, fastest);
    if (loop && (turn.operands.empty() || turn.turned == *loop)) {
      turn.turned = *loop;
      turn.operands.push_back(operand.getOperandNumber());
    } else if (is_result && step_of(op, operand, fastest) != Step::kNext) {
      return std::nullopt;
    }
    const Step step = step_of(op, operand, fastest);
    if (!loop && step != Step::kNext) continue;
    const int64_t bytes = stored_bytes(mlir::getElementTypeOrSelf(operand.get().getType()));
    turn.lanes = std::min(turn.lanes, kAccessBytes / bytes);
  }
  if (turn.operands.empty() || turn.operands.size() > kTurnedMax) return std::nullopt;
  const llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  const auto is_short = [&](unsigned loop) {
    return !mlir::ShapedType::isDynamic(ranges[loop]) && ranges[loop] < kShortSide;
  };
  if (is_short(turn.turned) || is_short(turn.fastest)) return std::nullopt;
  return turn;
}

class SquareWriter {
 public:
  SquareWriter(linalg::GenericOp op, Block& block, const Turn& turn)
      : op_(op), location_(op.getLoc()), block_(block), turn_(turn) {}

  void write(OpBuilder& builder) {
    sizes_ = loop_sizes(builder, op_);
    for (const unsigned number : turn_.operands) {
      const mlir::Type element = mlir::getElementTypeOrSelf(op_->getOperand(number).getType());
      const auto type = mlir::MemRefType::get({kSquare, kSquare}, element);
      squares_.push_back(builder.create<memref::AllocOp>(location_, type, builder.getI64IntegerAttr(kAccessBytes)));
    }
    const Value aligned = are_aligned(builder);
    Values others = sizes_;
    others[turn_.turned] = others[turn_.fastest] = constant(builder, 1);
    loop(builder, product(builder, location_, others), 1, [&](OpBuilder& each, Value number) {
      const Values at = split(each, location_, number, others);
      loop(each, sizes_[turn_.turned], kSquare, [&](OpBuilder& down, Value t0) {
        loop(down, sizes_[turn_.fastest], kSquare,
             [&](OpBuilder& inside, Value f0) { write_square(inside, at, t0, f0, aligned); });
      });
    });
  }

 private:
  Value constant(OpBuilder& builder, int64_t value) { return builder.create<arith::ConstantIndexOp>(location_, value); }
  Value add(OpBuilder& builder, Value a, Value b) { return builder.createOrFold<arith::AddIOp>(location_, a, b); }
  Value times(OpBuilder& builder, Value a, int64_t b) {
    return builder.createOrFold<arith::MulIOp>(location_, a, constant(builder, b));
  }
  Value quotient(OpBuilder& builder, Value a, int64_t b) {
    return builder.createOrFold<arith::DivUIOp>(location_, a, constant(builder, b));
  }
  Value remainder(OpBuilder& builder, Value a, int64_t b) {
    return builder.createOrFold<arith::RemUIOp>(location_, a, constant(builder, b));
  }
  Value is_below(OpBuilder& builder, Value a, Value b) {
    return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, a, b);
  }
  Value both(OpBuilder& builder, Value a, Value b) { return builder.create<arith::AndIOp>(location_, a, b); }

  template <typename Body>
  void loop(OpBuilder& builder, Value end, int64_t step, Body body) {
    auto loop = builder.create<scf::ForOp>(location_, constant(builder, 0), end, constant(builder, step));
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    body(inside, loop.getInductionVar());
  }

  Value are_aligned(OpBuilder& builder) {
    Value rest = Vectors(builder, op_, turn_.fastest, turn_.lanes).unaligned(builder);
    for (const unsigned number : turn_.operands) {
      const Memory memory = open_memory(builder, location_, op_->getOperand(number));
      const Value bits = unaligned_bits(builder, location_, memory, turn_.lanes * stored_bytes(memory.element));
      rest = builder.create<LLVM::OrOp>(location_, rest, bits);
    }
    return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, rest, make_i64(builder, location_, 0));
  }

  // A whole square by wide accesses, or what there is of it by elements.
  void write_square(OpBuilder& builder, const Values& at, Value t0, Value f0, Value aligned) {
    const auto is_whole = [&](Value begin, unsigned along) -> Value {
      return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ule,
                                           add(builder, begin, constant(builder, kSquare)), sizes_[along]);
    };
    const Value whole = both(builder, both(builder, is_whole(t0, turn_.turned), is_whole(f0, turn_.fastest)), aligned);
    const auto choose = [&](auto body) {
      auto choice = builder.create<scf::IfOp>(location_, whole, /*withElseRegion=*/true);
      OpBuilder then = choice.getThenBodyBuilder(), otherwise = choice.getElseBodyBuilder();
      body(then, turn_.lanes);
      body(otherwise, 1);
    };
    choose([&](OpBuilder& inside, int64_t lanes) { fill(inside, at, t0, f0, lanes); });
    Block::barrier(builder, location_);
    choose([&](OpBuilder& inside, int64_t lanes) { empty(inside, at, t0, f0, lanes); });
    Block::barrier(builder, location_);  // Before the next square takes its place.
  }

  // Some elements of one line of the square.
  struct Group {
    Value line, begin;
  };

  // A group by its number: `across` of a warp's lanes along the groups of one line, the others along lines.
  Group group(OpBuilder& builder, Value number, int64_t lanes, int64_t across) {
    const int64_t in_line = kSquare / lanes, lines = kWarp / across;
    const Value in_warp = remainder(builder, number, kWarp), rest = quotient(builder, number, kWarp);
    const Value place = add(builder, remainder(builder, in_warp, across),
                            times(builder, remainder(builder, rest, in_line / across), across));
    const Value line = add(builder, quotient(builder, in_warp, across),
                           times(builder, quotient(builder, rest, in_line / across), lines));
    return {line, times(builder, place, lanes)};
  }

  // Every thread's share of the groups; wide ones all at once, so that their loads are on their way together.
  template <typename Body>
  void share_groups(OpBuilder& builder, int64_t lanes, int64_t across, Body body) {
    const int64_t count = kSquare * kSquare / lanes;
    if (lanes == 1 || count % block_.threads() != 0) {
      return block_.strided(builder, location_, constant(builder, count), [&](OpBuilder& inside, Value number) {
        body(inside, {group(inside, number, lanes, across)});
      });
    }
    llvm::SmallVector<Group> groups;
    for (int64_t done = 0; done < count; done += block_.threads()) {
      groups.push_back(group(builder, add(builder, block_.thread(), constant(builder, done)), lanes, across));
    }
    body(builder, groups);
  }

  Values point(const Values& at, Value t, Value f) const {
    Values point = at;
    point[turn_.turned] = t;
    point[turn_.fastest] = f;
    return point;
  }

  // Where in a row of the square the element of column `f` stands.
  Value column(OpBuilder& builder, Value t, Value f, int64_t lanes) {
    const int64_t groups = kSquare / lanes;
    const Value turn = remainder(builder, quotient(builder, t, lanes), std::min(groups, kWarp));
    const Value group = builder.create<arith::XOrIOp>(location_, quotient(builder, f, lanes), turn);
    return add(builder, times(builder, group, lanes), remainder(builder, f, lanes));
  }

  void fill(OpBuilder& builder, const Values& at, Value t0, Value f0, int64_t lanes) {
    const int64_t across = std::min(lanes == 1 ? kWarp : kWarp / 4, kSquare / lanes);
    share_groups(builder, lanes, across, [&](OpBuilder& inside, llvm::ArrayRef<Group> groups) {
      const auto copy = [&](OpBuilder& here) {
        llvm::SmallVector<Values> loaded;
        for (const Group& each : groups) {
          const Values from = point(at, add(here, t0, each.begin), add(here, f0, each.line));
          for (const unsigned number : turn_.operands) loaded.push_back(load_group(here, number, from, lanes));
        }
        size_t next = 0;
        for (const Group& each : groups) {
          for (const Value square : squares_) keep_group(here, square, each, loaded[next++]);
        }
      };
      if (lanes > 1) return copy(inside);
      if_inside(inside, add(inside, t0, groups[0].begin), add(inside, f0, groups[0].line), copy);
    });
  }

  template <typename Body>
  void if_inside(OpBuilder& builder, Value t, Value f, Body body) {
    const Value is_inside =
        both(builder, is_below(builder, t, sizes_[turn_.turned]), is_below(builder, f, sizes_[turn_.fastest]));
    OpBuilder inside = builder.create<scf::IfOp>(location_, is_inside).getThenBodyBuilder();
    body(inside);
  }

  Values load_group(OpBuilder& builder, unsigned number, const Values& from, int64_t lanes) {
    mlir::OpOperand& operand = op_->getOpOperand(number);
    const Memory memory = open_memory(builder, location_, operand.get());
    const Value address = address_of(builder, location_, memory, indices(builder, op_, operand, from));
    return load_elements(builder, location_, memory, address, lanes);
  }

  // One below the other.
  void keep_group(OpBuilder& builder, Value square, const Group& group, const Values& elements) {
    const auto lanes = static_cast<int64_t>(elements.size());
    const Value place = column(builder, group.begin, group.line, lanes);  // The same in all rows.
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const Value row = add(builder, group.begin, constant(builder, lane));
      builder.create<memref::StoreOp>(location_, elements[static_cast<size_t>(lane)], square,
                                      mlir::ValueRange{row, place});
    }
  }

  void empty(OpBuilder& builder, const Values& at, Value t0, Value f0, int64_t lanes) {
    const int64_t across = std::min(kWarp, kSquare / lanes);
    share_groups(builder, lanes, across, [&](OpBuilder& inside, llvm::ArrayRef<Group> groups) {
      for (const Group& each : groups) {
        const Value row = add(inside, t0, each.line), place = add(inside, f0, each.begin);
        const auto compute = [&](OpBuilder& here) {
          const llvm::SmallVector<Values> given = take_group(here, each, lanes);
          Vectors(here, op_, turn_.fastest, lanes).write(here, point(at, row, place), given);
        };
        lanes > 1 ? compute(inside) : if_inside(inside, row, place, compute);
      }
    });
  }

  llvm::SmallVector<Values> take_group(OpBuilder& builder, const Group& group, int64_t lanes) {
    llvm::SmallVector<Values> given(op_->getNumOperands());
    for (size_t i = 0; i < squares_.size(); ++i) {
      const Memory square = open_memory(builder, location_, squares_[i]);
      const Value place = column(builder, group.line, group.begin, lanes);
      const Value address = address_of(builder, location_, square, mlir::ValueRange{group.line, place});
      given[turn_.operands[i]] = load_elements(builder, location_, square, address, lanes);
    }
    return given;
  }

  linalg::GenericOp op_;
  Location location_;
  Block& block_;
  const Turn& turn_;
  Values sizes_, squares_;
};

}  // namespace

bool lower_transpose(OpBuilder& builder, linalg::GenericOp op, Block& block, unsigned fastest) {
  if (block.threads() % kWarp != 0) return false;
  const std::optional<Turn> turn = find_turn(op, fastest);
  if (!turn) return false;
  int64_t bytes = 0;
  for (const unsigned number : turn->operands) {
    bytes += kSquare * kSquare * stored_bytes(mlir::getElementTypeOrSelf(op->getOperand(number).getType()));
  }
  if (!block.spend(bytes)) return false;
  SquareWriter(op, block, *turn).write(builder);
  return true;
}

}  // namespace baton::compiler_lite::codegen::gpu
