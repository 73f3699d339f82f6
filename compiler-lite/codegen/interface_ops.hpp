// The operations through which a kernel speaks to its dispatch, by name: the hal dialect defines them, and nothing here
// depends on its classes, so kernels can be made and compiled with the dialect loaded or without it.
//
//   hal.interface.workgroup.id|count|size  [dimension]           -> index
//   hal.interface.constant.load            ordinal               -> i32 (or another type of up to 32 bits)
//   hal.interface.binding.subspan          binding, byte offset?, sizes...  -> memref
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace baton::compiler_lite::codegen {

inline constexpr llvm::StringLiteral kWorkgroupId = "hal.interface.workgroup.id";
inline constexpr llvm::StringLiteral kWorkgroupCount = "hal.interface.workgroup.count";
inline constexpr llvm::StringLiteral kWorkgroupSize = "hal.interface.workgroup.size";
inline constexpr llvm::StringLiteral kConstantLoad = "hal.interface.constant.load";
// A constant of the whole executable, by `ordinal`; how many there are is an attribute of the kernels' module.
inline constexpr llvm::StringLiteral kSpecializationLoad = "hal.executable.constant.load";
inline constexpr llvm::StringLiteral kSpecializationCount = "baton.specialization_count";
inline constexpr llvm::StringLiteral kBindingSubspan = "hal.interface.binding.subspan";
inline constexpr llvm::StringLiteral kRegionWorkgroupId = "flow.dispatch.workgroup.id";
inline constexpr llvm::StringLiteral kRegionWorkgroupCount = "flow.dispatch.workgroup.count";
inline constexpr llvm::StringLiteral kExtractStridedMetadata = "iree_codegen.extract_strided_metadata";

inline bool is_operation(mlir::Operation* op, llvm::StringRef name) { return op->getName().getStringRef() == name; }

// The number in an attribute of one of these operations: `dimension`, `ordinal` or `binding`.
uint64_t number_of(mlir::Operation* op, llvm::StringRef attribute);

// A binding as a memref. Without an offset it begins at the binding.
struct SubspanView {
  uint64_t binding;
  std::optional<mlir::Value> byte_offset;
  mlir::OperandRange sizes;
};
SubspanView view_subspan(mlir::Operation* subspan);

// What a kernel is made of: how many words and bindings its dispatches pass.
struct KernelLayout {
  uint64_t constant_count = 0;
  uint64_t binding_count = 0;
};
// What the layout attributes of the operations in `function` say; without any, what the operations need.
KernelLayout layout_of(mlir::Operation* function);
// Notes the layout at the function, and reads it there. Operations without users disappear while a kernel is compiled,
// but the dispatch goes on passing what they would have read.
void note_layout(mlir::Operation* function, const KernelLayout& layout);
std::optional<KernelLayout> noted_layout(mlir::Operation* function);
// Notes it at the kernels that have no note yet.
void note_layouts(mlir::ModuleOp kernels);

// Where messages about all kernels of a module point: at the first one, for the module may have no line.
mlir::Location place_of(mlir::ModuleOp kernels);

// What `workgroup_size` of the function says, as far as it says something.
void read_workgroup_size(mlir::Operation* function, unsigned (&sizes)[3]);

// True when `function` asked for its workgroup itself; then it asks the dispatch now.
bool resolve_region_workgroups(mlir::Operation* function);

mlir::Value make_workgroup_id(mlir::OpBuilder& builder, mlir::Location location, unsigned dimension);
mlir::Value make_constant_load(mlir::OpBuilder& builder, mlir::Location location, const KernelLayout& layout,
                               unsigned ordinal);
mlir::Value make_subspan(mlir::OpBuilder& builder, mlir::Location location, const KernelLayout& layout,
                         unsigned binding, mlir::MemRefType type, mlir::ValueRange sizes);

}  // namespace baton::compiler_lite::codegen
