// fourier: transforms of lines of complex numbers, as blocks of threads do it (Stockham's way).
//
// Lines run along the second of three dimensions. One of n = r1 * r2 * ... numbers goes through a stage for each of these:
// a thread takes r numbers that lie n / r apart, turns them by roots of one, transforms them in registers, and writes them
// where the next stage reads them. The first stage reads the operands and the last one writes the results; in between lines
// are in memory of their workgroup.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler-lite/codegen/distribute.hpp"

namespace baton::compiler_lite::codegen {

// An attribute of functions, and of groups that are nothing else: the length of the lines, and 1 where the transform is the
// inverse one, which divides by the length. Their operands are the real and the imaginary parts, or the real ones alone,
// and the roots of one, [2, length], with the sign of the transform; their results are both parts, or the real ones alone.
// Operands of length / 2 + 1 numbers are the first ones of lines whose other half is conjugate; results may be the first
// numbers of lines.
inline constexpr llvm::StringLiteral kFourier = "baton.fourier";

struct Fourier {
  int64_t length;
  bool is_inverse;
};

// Nothing without the attribute, and where types are not as above.
std::optional<Fourier> find_fourier(mlir::Operation* function, mlir::FunctionType type);
// Whether a kernel transforms lines of this length whose workgroups have so many bytes.
bool takes_fourier(const Fourier& fourier, mlir::Type element, int64_t local_bytes);

// Rewrites a kernel of such a group; gives the grid.
mlir::AffineMap make_fourier_kernel(mlir::func::FuncOp kernel, llvm::ArrayRef<Destination> destinations,
                                    const Fourier& fourier, unsigned symbol_count);

}  // namespace baton::compiler_lite::codegen
