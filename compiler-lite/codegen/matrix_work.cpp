#include "compiler-lite/codegen/matrix_work.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen {
namespace {

using mlir::RankedTensorType;

constexpr int64_t kLanes = 32;
// Lines of a panel: a block's threads are as many as multiprocessors like, and there are few rounds of panels.
constexpr int64_t kPanelMax = 16;
// One block turns so many lines, or more where other blocks turn those of other matrices meanwhile.
constexpr int64_t kLinesOfBlock = 64, kLinesOfBlockMax = 192, kMatricesWanted = 64;
// What a block needs beside lines and matrices; and where threads without warps meet, so many numbers of each thread of rotations.
constexpr int64_t kOtherBytes = 256, kMeetingNumbers = 3;
// The same of the others: two numbers or a number and a word.
constexpr int64_t kMeetingBytes = 8 * 1024;
constexpr int64_t kThreadsMax = 1024, kThreadsOfWideMax = 512;

}  // namespace

int64_t threads_of_line(int64_t numbers) {
  return std::min(kLanes, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(numbers))));
}

int64_t room_of_line(int64_t numbers) {
  return llvm::divideCeilSigned(numbers, threads_of_line(numbers)) * threads_of_line(numbers);
}

int64_t threads_of_lines(mlir::ShapedType lines, int64_t panel) {
  const int64_t most = lines.getElementType().isF64() ? kThreadsOfWideMax : kThreadsMax;
  const int64_t wanted = panel * threads_of_line(lines.getDimSize(2));
  return std::min(most, llvm::divideCeilSigned(wanted, kLanes) * kLanes);
}

std::optional<Rotations> plan_rotations(RankedTensorType lines, int64_t compared, int64_t local_bytes) {
  const mlir::Type element = lines.getElementType();
  if (!lines.hasStaticShape() || lines.getRank() != 3 || lines.getNumElements() == 0) return std::nullopt;
  if (!element.isF32() && !element.isF64()) return std::nullopt;
  const int64_t matrices = lines.getDimSize(0), count = lines.getDimSize(1), numbers = lines.getDimSize(2);
  if (compared < 1 || compared > numbers || count < 2) return std::nullopt;
  const int64_t bytes = element.getIntOrFloatBitWidth() / 8, line_bytes = room_of_line(numbers) * bytes;
  const auto fits = [&](int64_t panel) {
    const int64_t other_bytes = kOtherBytes + kMeetingNumbers * threads_of_lines(lines, panel) * bytes;
    return 2 * panel * line_bytes + other_bytes <= local_bytes;
  };
  const int64_t half = llvm::divideCeilSigned(count, 2);
  const bool is_little = count <= kLinesOfBlock || (count <= kLinesOfBlockMax && matrices >= kMatricesWanted);
  if (is_little && fits(half)) return Rotations{compared, half, 2};
  for (int64_t panel = kPanelMax; panel > 0; panel /= 2) {
    if (!fits(panel)) continue;
    const int64_t panels = llvm::divideCeilSigned(llvm::divideCeilSigned(count, panel), 2) * 2;
    return Rotations{compared, panel, panels};
  }
  return std::nullopt;
}

mlir::DenseI64ArrayAttr write_rotations(mlir::OpBuilder& builder, const Rotations& rotations) {
  return builder.getDenseI64ArrayAttr({rotations.compared, rotations.panel, rotations.panels});
}

std::optional<Rotations> read_rotations(mlir::Operation* from) {
  const auto says = from->getAttrOfType<mlir::DenseI64ArrayAttr>(kRotations);
  if (!says || says.size() != 3) return std::nullopt;
  return Rotations{says[0], says[1], says[2]};
}

namespace {

constexpr std::pair<llvm::StringLiteral, FactorKind> kFactorKinds[] = {
    {"cholesky", FactorKind::kCholesky},
    {"lu", FactorKind::kLu},
    {"qr", FactorKind::kQr},
    {"reflections", FactorKind::kReflections},
    {"solve_lower", FactorKind::kSolveLower},
    {"solve_upper", FactorKind::kSolveUpper},
    {"solve_lower_unit", FactorKind::kSolveLowerUnit},
    {"solve_upper_unit", FactorKind::kSolveUpperUnit},
    {"permutation", FactorKind::kPermutation},
    {"cholesky_panel", FactorKind::kCholeskyPanel},
    {"cholesky_rest", FactorKind::kCholeskyRest},
    {"lu_panel", FactorKind::kLuPanel},
    {"lu_rest", FactorKind::kLuRest},
    {"qr_panel", FactorKind::kQrPanel},
    {"qr_rest", FactorKind::kQrRest},
    {"reflect", FactorKind::kReflect}};

constexpr int64_t kPanelColumnsMax = 32, kPanelsMax = 256;

}  // namespace

bool solves(FactorKind kind) { return kind >= FactorKind::kSolveLower && kind <= FactorKind::kSolveUpperUnit; }

llvm::StringRef name_of(FactorKind kind) {
  return llvm::find_if(kFactorKinds, [&](const auto& each) { return each.second == kind; })->first;
}

std::optional<FactorKind> read_factors(mlir::Operation* from) {
  const auto says = from->getAttrOfType<mlir::StringAttr>(kFactors);
  for (const auto& [name, kind] : kFactorKinds) {
    if (says && says.getValue() == name) return kind;
  }
  return std::nullopt;
}

namespace {

bool permutes(RankedTensorType pivots, mlir::FunctionType type) {
  const bool has_one = type.getNumInputs() == 1 && type.getNumResults() == 1;
  const auto made = has_one ? llvm::dyn_cast<RankedTensorType>(type.getResult(0)) : RankedTensorType();
  if (!made || !made.hasStaticShape() || made.getRank() != 3 || !pivots.getElementType().isInteger(32)) return false;
  return made.getElementType() == pivots.getElementType() && made.getDimSize(0) == pivots.getDimSize(0) &&
         made.getDimSize(1) == 1 && pivots.getDimSize(1) == 1 && made.getDimSize(2) >= pivots.getDimSize(2);
}

}  // namespace

std::optional<FactorKind> find_factors(mlir::Operation* function, mlir::FunctionType type) {
  const std::optional<FactorKind> kind = read_factors(function);
  const auto first = type.getNumInputs() > 0 ? llvm::dyn_cast<RankedTensorType>(type.getInput(0)) : RankedTensorType();
  if (!kind || !first || !first.hasStaticShape() || first.getRank() != 3 || first.getNumElements() == 0) return {};
  const mlir::Type element = first.getElementType(), word = mlir::IntegerType::get(type.getContext(), 32);
  if (*kind == FactorKind::kPermutation) return permutes(first, type) ? kind : std::nullopt;
  if (!element.isF32() && !element.isF64()) return {};
  const int64_t matrices = first.getDimSize(0), rows = first.getDimSize(1), columns = first.getDimSize(2);
  const int64_t least = std::min(rows, columns);
  const mlir::Type pivots = RankedTensorType::get({matrices, least}, word);
  const mlir::Type taus = RankedTensorType::get({matrices, least}, element);
  llvm::SmallVector<mlir::Type> operands = {first}, results = {first};
  switch (*kind) {
    case FactorKind::kCholesky:
      if (rows < columns) return {};
      break;
    case FactorKind::kLu: results.push_back(pivots); break;
    case FactorKind::kQr: results.push_back(taus); break;
    case FactorKind::kReflections: {
      const auto given =
          type.getNumInputs() == 2 ? llvm::dyn_cast<RankedTensorType>(type.getInput(1)) : RankedTensorType();
      if (!given || given.getRank() != 2 || given.getDimSize(0) != matrices || given.getElementType() != element)
        return {};
      if (!given.hasStaticShape() || given.getDimSize(1) < 1 || given.getDimSize(1) > least) return {};
      operands.push_back(given);
      break;
    }
    case FactorKind::kSolveLower:
    case FactorKind::kSolveUpper:
    case FactorKind::kSolveLowerUnit:
    case FactorKind::kSolveUpperUnit: {
      const auto right =
          type.getNumInputs() == 2 ? llvm::dyn_cast<RankedTensorType>(type.getInput(1)) : RankedTensorType();
      if (!right || right.getRank() != 3 || right.getDimSize(0) != matrices || right.getDimSize(1) != rows) return {};
      if (!right.hasStaticShape() || right.getNumElements() == 0 || right.getElementType() != element) return {};
      if (rows != columns) return {};
      operands.push_back(right);
      results = {right};
      break;
    }
    default: return {};
  }
  return type == mlir::FunctionType::get(type.getContext(), operands, results) ? kind : std::nullopt;
}

int64_t pitch_of(int64_t columns) { return columns | 1; }

std::optional<int64_t> plan_panels(FactorKind kind, mlir::FunctionType type, int64_t local_bytes) {
  const auto matrices = llvm::cast<RankedTensorType>(type.getInput(0));
  const int64_t rows = matrices.getDimSize(1), columns = matrices.getDimSize(2);
  const int64_t bytes = matrices.getElementType().getIntOrFloatBitWidth() / 8;
  // Beside the panel an order of rows.
  const auto fits = [&](int64_t width) {
    return rows * (pitch_of(width) * bytes + 4) + kOtherBytes + kMeetingBytes <= local_bytes;
  };
  if (kind == FactorKind::kPermutation) {
    const int64_t numbers = columns + llvm::cast<RankedTensorType>(type.getResult(0)).getDimSize(2);
    return numbers * bytes + kOtherBytes <= local_bytes ? std::optional(columns) : std::nullopt;
  }
  if (solves(kind)) {
    const int64_t right = llvm::cast<RankedTensorType>(type.getInput(1)).getDimSize(2);
    int64_t width = std::min(kColumnsOfRest, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(right))));
    while (width > 0 && !fits(columns + width)) width /= 2;
    return width > 0 ? std::optional(width) : std::nullopt;
  }
  if (kind != FactorKind::kReflections && fits(columns)) return columns;
  if (kind == FactorKind::kCholesky) {
    const int64_t numbers = (kPanelColumnsMax + 2 * kTileOfRest) * pitch_of(kPanelColumnsMax);
    const bool has_room = numbers * bytes + kOtherBytes <= local_bytes;
    if (rows != columns || !has_room || columns > kPanelsMax * kPanelColumnsMax) return std::nullopt;
    return kPanelColumnsMax;
  }
  const bool reflects = kind != FactorKind::kLu;
  const int64_t least = kind == FactorKind::kReflections ? llvm::cast<RankedTensorType>(type.getInput(1)).getDimSize(1)
                                                         : std::min(rows, columns);
  int64_t width = std::min(kPanelColumnsMax, least);
  // Where reflections are applied to columns, these lie beside the panel.
  while (width > 0 && !fits(reflects ? width + kColumnsReflected : width)) width /= 2;
  if (width == 0 || llvm::divideCeilSigned(least, width) > kPanelsMax) return std::nullopt;
  return width;
}

namespace {

// For each matrix.
int64_t blocks_of(mlir::func::FuncOp group) {
  const auto first = llvm::cast<RankedTensorType>(group.getArgumentTypes().front());
  const int64_t columns = llvm::cast<RankedTensorType>(group.getResultTypes().front()).getDimSize(2);
  const FactorKind kind = *read_factors(group);
  if (solves(kind)) {
    return llvm::divideCeilSigned(columns, group->getAttrOfType<mlir::IntegerAttr>(kPanelColumns).getInt());
  }
  switch (kind) {
    case FactorKind::kCholeskyRest: {
      const int64_t tiles = llvm::divideCeilSigned(columns, kTileOfRest);
      return tiles * tiles;
    }
    case FactorKind::kLuRest:
      return llvm::divideCeilSigned(columns, kColumnsOfRest) * llvm::divideCeilSigned(first.getDimSize(1), kRowsOfRest);
    case FactorKind::kQrRest:
    case FactorKind::kReflect: return llvm::divideCeilSigned(columns, kColumnsReflected);
    default: return 1;
  }
}

}  // namespace

mlir::AffineMap make_matrix_kernel(mlir::func::FuncOp group, mlir::func::FuncOp kernel,
                                   llvm::ArrayRef<Destination> destinations, unsigned symbol_count) {
  const std::optional<Rotations> rotations = read_rotations(group);
  const int64_t matrices = llvm::cast<RankedTensorType>(group.getArgumentTypes().front()).getDimSize(0);
  llvm::SmallVector<mlir::Attribute> types;
  const auto add_bindings = [&](mlir::TypeRange all) {
    for (const mlir::Type type : all) {
      const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
      if (!tensor) continue;
      types.push_back(mlir::TypeAttr::get(mlir::MemRefType::get(tensor.getShape(), tensor.getElementType())));
    }
  };
  add_bindings(group.getArgumentTypes());
  if (!group->hasAttr("tied_operands")) add_bindings(group.getResultTypes());
  mlir::OpBuilder builder(kernel.getContext());
  for (const llvm::StringLiteral name : {kRotations, kFactors, kPanelColumns}) {
    if (const mlir::Attribute says = group->getAttr(name)) kernel->setAttr(name, says);
  }
  kernel->setAttr(kBindingTypes, builder.getArrayAttr(types));
  for (const Destination& destination : destinations) {
    mlir::bufferization::MaterializeInDestinationOp write = destination.write;
    write.erase();
  }
  const int64_t workgroups = matrices * (rotations ? rotations->panels / 2 : blocks_of(group));
  return make_grid(kernel.getContext(), builder.getAffineConstantExpr(workgroups), symbol_count);
}

}  // namespace baton::compiler_lite::codegen
