#include "compiler-lite/schedule/known_functions.hpp"

#include "compiler-lite/codegen/fourier.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"
#include "compiler-lite/codegen/sort.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace baton::compiler_lite::schedule {
namespace {

using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

constexpr llvm::StringLiteral kSortsRows = "baton.sorts_rows";

class Outliner {
 public:
  explicit Outliner(mlir::ModuleOp module) : module_(module) {}

  void sort(util::FuncOp function, RankedTensorType rows) {
    Value sorted = function.getBody().getArgument(0);
    const llvm::SmallVector<mlir::Operation*> before = operations_of(function);
    for (const codegen::SortSteps& steps : codegen::plan_sort(rows)) {
      const mlir::SymbolRefAttr symbol =
          write_group("sort_rows_", function.getFunctionType(),
                      [&](OpBuilder& builder, mlir::func::FuncOp group) -> llvm::SmallVector<Value> {
                        group->setAttr(codegen::kSortSteps, codegen::write_sort_steps(builder, steps));
                        group->setAttr("tied_operands", builder.getI64ArrayAttr({0}));
                        return {group.getArgument(0)};
                      });
      sorted = dispatch(function, symbol, sorted, {0}).front();
    }
    end(function, sorted, before);
  }

  // One kernel that makes all results.
  void make_at_once(util::FuncOp function, llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> attributes) {
    const llvm::SmallVector<mlir::Operation*> before = operations_of(function);
    const mlir::FunctionType type = function.getFunctionType();
    const mlir::SymbolRefAttr symbol = write_group(name, type, [&](OpBuilder& builder, mlir::func::FuncOp group) {
      for (const llvm::StringRef attribute : attributes) {
        if (const mlir::Attribute says = function->getAttr(attribute)) group->setAttr(attribute, says);
      }
      llvm::SmallVector<Value> made;
      for (const mlir::Type result : type.getResults()) {
        const auto tensor = llvm::cast<RankedTensorType>(result);
        made.push_back(
            builder.create<mlir::tensor::EmptyOp>(group.getLoc(), tensor.getShape(), tensor.getElementType()));
      }
      return made;
    });
    end(function, dispatch(function, symbol, function.getBody().getArguments(), {}), before);
  }

  void factor(util::FuncOp function, codegen::FactorKind kind, int64_t width) {
    const auto matrices = llvm::cast<RankedTensorType>(function.getFunctionType().getInput(0));
    const bool reflects = kind == codegen::FactorKind::kReflections;
    if (codegen::solves(kind)) function->setAttr(codegen::kPanelColumns, OpBuilder(function).getI64IntegerAttr(width));
    if (codegen::solves(kind) || (!reflects && width == matrices.getDimSize(2))) {
      make_at_once(function, "factors_", {codegen::kFactors, codegen::kPanelColumns});
      function->removeAttr(codegen::kPanelColumns);
      return;
    }
    const llvm::SmallVector<mlir::Operation*> before = operations_of(function);
    Panels panels(*this, function, width);
    switch (kind) {
      case codegen::FactorKind::kCholesky: return end(function, panels.cholesky(), before);
      case codegen::FactorKind::kLu: return end(function, panels.lu(), before);
      case codegen::FactorKind::kQr: return end(function, panels.qr(), before);
      default: return end(function, panels.reflections(), before);
    }
  }

  void rotate(util::FuncOp function, const codegen::Rotations& rotations) {
    const llvm::SmallVector<mlir::Operation*> before = operations_of(function);
    const Value lines = function.getBody().getArgument(0);
    const Value turned = rotations.is_whole() ? turned_at_once(function, lines, rotations)
                                              : turned_in_sweeps(function, lines, rotations);
    end(function, turned, before);
  }

 private:
  // Factorizations panel after panel.
  class Panels {
   public:
    Panels(Outliner& outliner, util::FuncOp function, int64_t width)
        : outliner_(outliner),
          function_(function),
          location_(function.getLoc()),
          builder_(function.getBody().front().getTerminator()),
          matrices_(llvm::cast<RankedTensorType>(function.getFunctionType().getInput(0))),
          width_(width) {}

    llvm::SmallVector<Value> cholesky() {
      const int64_t size = matrices_.getDimSize(2);
      Value a = argument(0), made = empty(matrices_);
      for_panels(size, [&](int64_t begin, int64_t columns) {
        made = call(codegen::FactorKind::kCholeskyPanel, columns, {a, made}, begin, {1})[0];
        if (begin + columns == size) return;
        const llvm::SmallVector<Value> both =
            call(codegen::FactorKind::kCholeskyRest, columns, {a, made}, begin, {0, 1});
        a = both[0];
        made = both[1];
      });
      return {made};
    }

    llvm::SmallVector<Value> lu() {
      const auto pivots_type = llvm::cast<RankedTensorType>(function_.getFunctionType().getResult(1));
      const auto order_type =
          RankedTensorType::get({matrices_.getDimSize(0), matrices_.getDimSize(1)}, pivots_type.getElementType());
      Value a = argument(0), pivots = empty(pivots_type);
      for_panels(pivots_type.getDimSize(1), [&](int64_t begin, int64_t columns) {
        const llvm::SmallVector<Value> panel =
            call(codegen::FactorKind::kLuPanel, columns, {a, pivots, empty(order_type)}, begin, {0, 1, 2});
        pivots = panel[1];
        a = call(codegen::FactorKind::kLuRest, columns, {panel[0], panel[2]}, begin, {})[0];
      });
      return {a, pivots};
    }

    llvm::SmallVector<Value> qr() {
      const auto taus_type = llvm::cast<RankedTensorType>(function_.getFunctionType().getResult(1));
      Value a = argument(0), taus = empty(taus_type);
      for_panels(taus_type.getDimSize(1), [&](int64_t begin, int64_t columns) {
        const llvm::SmallVector<Value> panel = call(codegen::FactorKind::kQrPanel, columns, {a, taus}, begin, {0, 1});
        a = panel[0];
        taus = panel[1];
        if (begin + columns == matrices_.getDimSize(2)) return;
        a = call(codegen::FactorKind::kQrRest, columns, {a, taus}, begin, {0})[0];
      });
      return {a, taus};
    }

    llvm::SmallVector<Value> reflections() {
      llvm::SmallVector<std::pair<int64_t, int64_t>> panels;
      for_panels(llvm::cast<RankedTensorType>(argument(1).getType()).getDimSize(1),
                 [&](int64_t begin, int64_t columns) { panels.emplace_back(begin, columns); });
      Value made = identity();
      for (const auto& [begin, columns] : llvm::reverse(panels)) {
        made = call(codegen::FactorKind::kReflect, columns, {argument(0), argument(1), made}, begin, {2})[0];
      }
      return {made};
    }

   private:
    Value argument(unsigned number) { return function_.getBody().getArgument(number); }
    Value empty(RankedTensorType type) {
      return builder_.create<mlir::tensor::EmptyOp>(location_, type.getShape(), type.getElementType());
    }

    void for_panels(int64_t count, llvm::function_ref<void(int64_t, int64_t)> body) {
      for (int64_t begin = 0; begin < count; begin += width_) body(begin, std::min(width_, count - begin));
    }

    // Results are what operands are tied, or the first one's type.
    llvm::SmallVector<Value> call(codegen::FactorKind kind, int64_t columns, llvm::SmallVector<Value> operands,
                                  int64_t begin, llvm::ArrayRef<int64_t> ties) {
      llvm::SmallVector<mlir::Type> results;
      for (const int64_t tie : ties) results.push_back(operands[static_cast<size_t>(tie)].getType());
      if (ties.empty()) results.push_back(operands[0].getType());
      operands.push_back(builder_.create<mlir::arith::ConstantIntOp>(location_, begin, 32));
      const auto type = mlir::FunctionType::get(function_.getContext(), mlir::ValueRange(operands).getTypes(), results);
      const mlir::SymbolRefAttr symbol = outliner_.write_group(
          codegen::name_of(kind).str() + "_", type, [&](OpBuilder& builder, mlir::func::FuncOp group) {
            group->setAttr(codegen::kFactors, builder.getStringAttr(codegen::name_of(kind)));
            group->setAttr(codegen::kPanelColumns, builder.getI64IntegerAttr(columns));
            llvm::SmallVector<Value> made;
            for (const int64_t tie : ties) made.push_back(group.getArgument(static_cast<unsigned>(tie)));
            if (!ties.empty()) {
              group->setAttr("tied_operands", builder.getI64ArrayAttr(ties));
            } else {
              made.push_back(
                  builder.create<mlir::tensor::EmptyOp>(location_, matrices_.getShape(), matrices_.getElementType()));
            }
            return made;
          });
      return llvm::to_vector_of<Value>(dispatch(builder_, location_, symbol, results, operands, ties));
    }

    Value identity() {
      const mlir::Type element = matrices_.getElementType();
      const mlir::AffineMap map = builder_.getMultiDimIdentityMap(3);
      const llvm::SmallVector<mlir::utils::IteratorType> loops(3, mlir::utils::IteratorType::parallel);
      const auto number = [&](OpBuilder& builder, double value) {
        return builder.create<mlir::arith::ConstantOp>(location_, builder.getFloatAttr(element, value));
      };
      auto made = builder_.create<mlir::linalg::GenericOp>(
          location_, mlir::TypeRange(matrices_), mlir::ValueRange(), mlir::ValueRange(empty(matrices_)),
          llvm::ArrayRef(map), loops, [&](OpBuilder& body, mlir::Location, mlir::ValueRange) {
            const Value row = body.create<mlir::linalg::IndexOp>(location_, 1);
            const Value column = body.create<mlir::linalg::IndexOp>(location_, 2);
            const Value is_head =
                body.create<mlir::arith::CmpIOp>(location_, mlir::arith::CmpIPredicate::eq, row, column);
            const Value value =
                body.create<mlir::arith::SelectOp>(location_, is_head, number(body, 1), number(body, 0));
            body.create<mlir::linalg::YieldOp>(location_, value);
          });
      return made.getResult(0);
    }

    Outliner& outliner_;
    util::FuncOp function_;
    mlir::Location location_;
    OpBuilder builder_;
    RankedTensorType matrices_;
    int64_t width_;
  };

  Value turned_at_once(util::FuncOp function, Value lines, const codegen::Rotations& rotations) {
    OpBuilder builder(function.getBody().front().getTerminator());
    const mlir::SymbolRefAttr symbol = write_rotations(lines.getType(), lines.getType(), rotations, {0});
    return dispatch(builder, function.getLoc(), symbol, lines.getType(), lines, {0}).front();
  }

  // Each sweep is a turn of a loop that goes on until none turns anything.
  Value turned_in_sweeps(util::FuncOp function, Value lines, const codegen::Rotations& rotations) {
    OpBuilder builder(function.getBody().front().getTerminator());
    const mlir::Location location = function.getLoc();
    const auto constant = [&](int32_t number) {
      return builder.create<mlir::arith::ConstantIntOp>(location, number, 32).getResult();
    };
    const mlir::Type i32 = builder.getI32Type();
    const auto flag = RankedTensorType::get({1}, i32);
    const auto made_flag = [&](int32_t number) {
      const Value memory = builder.create<mlir::tensor::EmptyOp>(location, flag.getShape(), i32);
      return builder.create<mlir::linalg::FillOp>(location, constant(number), memory).getResult(0);
    };
    const mlir::Type types[] = {i32, lines.getType(), flag};
    const mlir::SymbolRefAttr symbol =
        write_rotations({lines.getType(), flag, i32}, {lines.getType(), flag}, rotations, {0, 1});
    auto loop = builder.create<mlir::scf::WhileOp>(location, types, mlir::ValueRange{constant(0), lines, made_flag(1)});
    const mlir::Location locations[] = {location, location, location};
    mlir::Block* const asked = builder.createBlock(&loop.getBefore(), {}, types, locations);
    const Value zero = builder.create<mlir::arith::ConstantIndexOp>(location, 0);
    const Value found = builder.create<mlir::tensor::ExtractOp>(location, asked->getArgument(2), zero);
    const auto compare = [&](mlir::arith::CmpIPredicate how, Value a, Value b) {
      return builder.create<mlir::arith::CmpIOp>(location, how, a, b);
    };
    const Value has_turned = compare(mlir::arith::CmpIPredicate::ne, found, constant(0));
    const Value has_turns = compare(mlir::arith::CmpIPredicate::slt, asked->getArgument(0),
                                    constant(static_cast<int32_t>(codegen::kSweepsMax)));
    builder.create<mlir::scf::ConditionOp>(
        location, builder.create<mlir::arith::AndIOp>(location, has_turned, has_turns), asked->getArguments());
    mlir::Block* const sweep = builder.createBlock(&loop.getAfter(), {}, types, locations);
    llvm::SmallVector<Value> carried = {sweep->getArgument(1), made_flag(0)};
    for (int64_t round = 0; round + 1 < rotations.panels; ++round) {
      llvm::SmallVector<Value> operands = carried;
      operands.push_back(constant(static_cast<int32_t>(round)));
      carried =
          llvm::to_vector_of<Value>(dispatch(builder, location, symbol, {lines.getType(), flag}, operands, {0, 1}));
    }
    const Value next = builder.create<mlir::arith::AddIOp>(location, sweep->getArgument(0), constant(1));
    builder.create<mlir::scf::YieldOp>(location, mlir::ValueRange{next, carried[0], carried[1]});
    return loop.getResult(1);
  }

  mlir::SymbolRefAttr write_rotations(mlir::TypeRange operands, mlir::TypeRange results,
                                      const codegen::Rotations& rotations, llvm::ArrayRef<int64_t> ties) {
    const auto type = mlir::FunctionType::get(module_.getContext(), operands, results);
    return write_group("rotations_", type, [&](OpBuilder& builder, mlir::func::FuncOp group) {
      group->setAttr(codegen::kRotations, codegen::write_rotations(builder, rotations));
      group->setAttr("tied_operands", builder.getI64ArrayAttr(ties));
      return llvm::to_vector_of<Value>(group.getArguments().take_front(results.size()));
    });
  }

  static llvm::SmallVector<mlir::Operation*> operations_of(util::FuncOp function) {
    llvm::SmallVector<mlir::Operation*> all;
    for (mlir::Operation& op : function.getBody().front().without_terminator()) all.push_back(&op);
    return all;
  }

  static mlir::ResultRange dispatch(util::FuncOp function, mlir::SymbolRefAttr symbol, mlir::ValueRange operands,
                                    llvm::ArrayRef<int64_t> ties) {
    OpBuilder builder(function.getBody().front().getTerminator());
    return dispatch(builder, function.getLoc(), symbol, function.getFunctionType().getResults(), operands, ties);
  }
  static mlir::ResultRange dispatch(OpBuilder& builder, mlir::Location location, mlir::SymbolRefAttr symbol,
                                    mlir::TypeRange results, mlir::ValueRange operands, llvm::ArrayRef<int64_t> ties) {
    auto made = builder.create<flow::DispatchOp>(location, results, mlir::ValueRange(), builder.getArrayAttr({symbol}),
                                                 operands, mlir::ValueRange(), mlir::ValueRange(),
                                                 ties.empty() ? mlir::ArrayAttr() : builder.getI64ArrayAttr(ties));
    return made->getResults();
  }

  // The function returns `results`, and nothing of what stood `before` is left.
  static void end(util::FuncOp function, mlir::ValueRange results, llvm::ArrayRef<mlir::Operation*> before) {
    function.getBody().front().getTerminator()->setOperands(results);
    for (mlir::Operation* op : llvm::reverse(before)) op->erase();
  }

  using WriteBody = llvm::function_ref<llvm::SmallVector<Value>(OpBuilder&, mlir::func::FuncOp)>;

  mlir::SymbolRefAttr write_group(llvm::StringRef name, mlir::FunctionType type, WriteBody write) {
    OpBuilder builder = OpBuilder::atBlockEnd(group_module(module_).getBody());
    auto group = builder.create<mlir::func::FuncOp>(module_.getLoc(), "group", type);
    builder.setInsertionPointToStart(group.addEntryBlock());
    builder.create<mlir::func::ReturnOp>(module_.getLoc(), write(builder, group));
    return names_.intern(group, [&](size_t number) { return name.str() + std::to_string(number); });
  }

  mlir::ModuleOp module_;
  GroupNames names_;
};

}  // namespace

void outline_known_functions(mlir::ModuleOp module, bool on_blocks, int64_t local_bytes) {
  Outliner outliner(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    const mlir::FunctionType type = function.getFunctionType();
    const bool sorts = function->removeAttr(kSortsRows) != nullptr;
    const std::optional<codegen::Fourier> fourier = codegen::find_fourier(function, type);
    function->removeAttr(codegen::kPanelColumns);  // Plans say it, and no program.
    const auto rotates = function->getAttrOfType<mlir::IntegerAttr>(codegen::kRotates);
    function->removeAttr(codegen::kRotates);
    if (on_blocks && function.getBody().hasOneBlock()) {
      const bool is_endomap = type.getNumInputs() == 1 && type.getResults() == type.getInputs();
      const auto rows = is_endomap ? llvm::dyn_cast<RankedTensorType>(type.getInput(0)) : RankedTensorType();
      if (sorts && rows && codegen::takes_sort(rows)) outliner.sort(function, rows);
      if (fourier && codegen::takes_fourier(*fourier, mlir::getElementTypeOrSelf(type.getInput(0)), local_bytes)) {
        outliner.make_at_once(function, "fourier_", {codegen::kFourier});
      }
      const std::optional<codegen::FactorKind> factors = codegen::find_factors(function, type);
      const std::optional<int64_t> width = factors ? codegen::plan_panels(*factors, type, local_bytes) : std::nullopt;
      if (width) outliner.factor(function, *factors, *width);
      if (rotates && rows) {
        const auto rotations = codegen::plan_rotations(rows, rotates.getInt(), local_bytes);
        if (rotations) outliner.rotate(function, *rotations);
      }
    }
    function->removeAttr(codegen::kFourier);
    function->removeAttr(codegen::kFactors);
  }
}

}  // namespace baton::compiler_lite::schedule
