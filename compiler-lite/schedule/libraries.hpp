// Libraries: work that commands of native modules do instead of generated kernels, where they are there.
//
// A library describes itself in a file, NAME.library.mlir: a module whose symbol is that of the native module, with what
// its commands take (modules/libraries/README.md). Products that fit are marked before groups are formed: a marked product,
// with what follows of bias and activation, is a group of its own, and its dispatch carries the call. The program holds
// both, the generated kernel and the call; a global that the initializer fills says for each library which one is recorded.
// The call of a convolution stands for several kernels (convolution_layout.hpp): the last carries it, and the others are
// not recorded where the library is there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

struct LibraryOptions {
  std::vector<std::string> files = {};
  // When set, gets a line for each product: which library takes it, or why none does.
  std::string* explanation = nullptr;
};

// Marks what libraries take; before form_dispatches.
mlir::LogicalResult mark_library_work(mlir::ModuleOp module, const LibraryOptions& options);

// Whether a library takes it, alone or as a part of what it takes.
bool is_library_work(mlir::Operation* op);
// Whether it is a part of what a library computes, and nothing that the library goes past.
bool is_library_result(mlir::Operation* op);
// Whether the producer of an operand goes into the group of `consumer`, as marks say; nothing where neither is marked.
std::optional<bool> joins_by_mark(mlir::Operation* producer, mlir::Operation* consumer);
// The marks of a group that is outlined, taken from its operations: what its dispatch, which passes `captured`, carries. What only
// libraries read is captured, too.
using LibraryMarks = llvm::SmallVector<mlir::NamedAttribute>;
LibraryMarks take_marks(llvm::ArrayRef<mlir::Operation*> operations, llvm::SmallVector<mlir::Value>& captured);

// On a dispatch whose result is read by kernels that these libraries replace, and by nothing else: mark_needless finds them,
// after form_dispatches.
void mark_needless(mlir::ModuleOp module);
inline constexpr llvm::StringLiteral kNeedlessBeside = "baton.libraries.needless_beside";
std::vector<std::string> needless_beside(flow::DispatchOp op);

// The calls that may be recorded in place of a dispatch; the first one whose library is there is taken.
inline constexpr llvm::StringLiteral kLibraryCalls = "baton.libraries";

// A factor and sizes of the dispatch's arguments, multiplied.
struct LibraryNumber {
  int64_t factor = 1;
  llvm::SmallVector<std::pair<unsigned, unsigned>> sizes = {};  // Argument, dimension.
};
struct LibraryCall {
  std::string module, command;
  llvm::SmallVector<unsigned> arguments;  // Of the dispatch; its result comes behind them.
  std::vector<LibraryNumber> numbers;
};
std::vector<LibraryCall> library_calls(flow::DispatchOp op);

}  // namespace baton::compiler_lite::schedule
