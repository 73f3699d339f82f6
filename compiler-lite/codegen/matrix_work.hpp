// matrix_work: factorizations of matrices, each by a block of threads that keeps it in shared memory and does all turns in one kernel.
//
//   rotations   lines are turned, two at a time, until all are orthogonal in their first numbers (gpu/rotations.hpp)
//   factors     Cholesky, LU with pivots, QR, the product of reflections: column after column (gpu/factors.hpp)
//
// A round of these takes a few hundred cycles in one kernel, and some microseconds as a kernel of its own. Where lines are too many
// for one block, each kernel is a round of a tournament of panels: a block turns the lines of two.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler-lite/codegen/distribute.hpp"

namespace baton::compiler_lite::codegen {

// An attribute of functions whose only argument, [matrices, lines, numbers], they give with lines turned; how many numbers of a line
// are compared.
inline constexpr llvm::StringLiteral kRotates = "baton.rotates";

// An attribute of groups that are nothing else, and of their kernels: the numbers of a Rotations.
inline constexpr llvm::StringLiteral kRotations = "baton.rotations";
// Of their kernels: the types of all bindings, in order.
inline constexpr llvm::StringLiteral kBindingTypes = "baton.binding_types";

// Of one kernel. Its bindings are the lines and, where a block has some of them only, a number that becomes 1 if it turns any; its
// only constant is then the round, whose blocks have two panels each.
struct Rotations {
  int64_t compared;  // Numbers of a line.
  int64_t panel;     // Lines.
  int64_t panels;    // Two, which one block turns until they are orthogonal, or more.

  bool is_whole() const { return panels == 2; }
};

// Sweeps follow each other until none turns a line, or there were so many; one that meets a NaN may not end.
inline constexpr int64_t kSweepsMax = 30;

// How these lines are turned where a block has so many bytes; nothing where it has no room for two of them.
std::optional<Rotations> plan_rotations(mlir::RankedTensorType lines, int64_t compared, int64_t local_bytes);
mlir::DenseI64ArrayAttr write_rotations(mlir::OpBuilder& builder, const Rotations& rotations);
std::optional<Rotations> read_rotations(mlir::Operation* from);

// An attribute of functions: what they make of their first operand, [matrices, rows, columns].
//
//   "cholesky"      the first columns of the lower factor; above the diagonal stands anything
//   "lu"            the packed factors; for each column the row, from 0, that it was exchanged with
//   "qr"            the packed factors, and a tau for each column
//   "solve_lower"   the x of a x = right, its second operand, for the lower triangle; "solve_upper", and with "_unit" behind it, if ones are
//                   meant on the diagonal
//   "permutation"   of rows of integers, the order in which they leave as many or more rows: each exchanges its own with that it names
//   "reflections"   the product of such packed reflections with the taus of the second operand, as many columns as the first has
//
// And of groups that are nothing else. A matrix for which a block has no room is done in panels of columns, each by a block, and what is
// right of them by many; the only constant of such a kernel is the number of the panel's first column.
//
//   "cholesky_panel"  the factor of a block on the diagonal, in the second operand
//   "cholesky_rest" what is below that block, there; and what is left of the matrix, in place
//   "lu_panel"      exchanges and eliminates in its columns, in place; pivots, in place; the order that its exchanges bring rows into
//   "lu_rest"       the whole matrix behind it, in other memory
//   "qr_panel"      makes reflections of its columns, in place; taus, in place
//   "qr_rest"       applies them to what is right of them, in place
//   "reflect"       applies them to other columns, in place, the last one first
inline constexpr llvm::StringLiteral kFactors = "baton.factors";
// Of groups with panels, and their kernels: how many columns one has.
inline constexpr llvm::StringLiteral kPanelColumns = "baton.panel_columns";

enum class FactorKind {
  kCholesky,
  kLu,
  kQr,
  kReflections,
  kSolveLower,
  kSolveUpper,
  kSolveLowerUnit,
  kSolveUpperUnit,
  kPermutation,
  kCholeskyPanel,
  kCholeskyRest,
  kLuPanel,
  kLuRest,
  kQrPanel,
  kQrRest,
  kReflect
};

// What a function's attribute says; nothing without it, and where types are not as above.
std::optional<FactorKind> find_factors(mlir::Operation* function, mlir::FunctionType type);
std::optional<FactorKind> read_factors(mlir::Operation* from);
bool solves(FactorKind kind);
llvm::StringRef name_of(FactorKind kind);

// How many columns a panel has, all of them where one block does all, and of solves, how many columns of x a block has; nothing where there is no room, or were too many panels.
std::optional<int64_t> plan_panels(FactorKind kind, mlir::FunctionType type, int64_t local_bytes);
// Numbers between the beginnings of two rows in a block's memory: an odd number, so that those of a column lie in different banks.
int64_t pitch_of(int64_t columns);

// What one block computes of the matrix behind a panel.
inline constexpr int64_t kColumnsOfRest = 32, kRowsOfRest = 64, kColumnsReflected = 8, kTileOfRest = 64;

// Threads of a line in such a kernel, and numbers that a line of so many has room for.
int64_t threads_of_line(int64_t numbers);
int64_t room_of_line(int64_t numbers);
// Threads of a block that has two panels of so many of these lines.
int64_t threads_of_lines(mlir::ShapedType lines, int64_t panel);

// Rewrites a kernel of such a group, whose code the target writes; gives the grid.
mlir::AffineMap make_matrix_kernel(mlir::func::FuncOp group, mlir::func::FuncOp kernel,
                                   llvm::ArrayRef<Destination> destinations, unsigned symbol_count);

}  // namespace baton::compiler_lite::codegen
