#include "compiler-lite/codegen/interface_ops.hpp"

#include <algorithm>

#include "llvm/Support/raw_ostream.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace baton::compiler_lite::codegen {
namespace {

constexpr llvm::StringLiteral kLayoutNote = "baton.layout";  // [constants, bindings]

// #hal.pipeline.layout<...> through its text, so that its class isn't needed. Null without the dialect.
mlir::Attribute make_layout(mlir::MLIRContext* context, const KernelLayout& layout) {
  if (!context->getLoadedDialect("hal")) return {};
  std::string text = "#hal.pipeline.layout<constants = " + std::to_string(layout.constant_count) + ", bindings = [";
  for (uint64_t i = 0; i < layout.binding_count; ++i) {
    text += i == 0 ? "#hal.pipeline.binding<storage_buffer>" : ", #hal.pipeline.binding<storage_buffer>";
  }
  return mlir::parseAttribute(text + "]>", context);
}

// #hal.pipeline.layout<constants = 3, bindings = [#hal.pipeline.binding<...>, ...]>, read as text.
void include_text(mlir::Attribute attribute, KernelLayout& layout) {
  std::string storage;
  llvm::raw_string_ostream stream(storage);
  attribute.print(stream);
  const llvm::StringRef text = stream.str();
  uint64_t constants = 0;
  const llvm::StringRef mark = "constants = ";
  if (const size_t at = text.find(mark); at != llvm::StringRef::npos) {
    if (text.drop_front(at + mark.size()).consumeInteger(10, constants)) constants = 0;
  }
  layout.constant_count = std::max(layout.constant_count, constants);
  layout.binding_count = std::max<uint64_t>(layout.binding_count, text.count("pipeline.binding<"));
}

mlir::Value make_index(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef name, unsigned dimension) {
  mlir::OperationState state(location, name);
  state.addTypes(builder.getIndexType());
  state.addAttribute("dimension", builder.getIndexAttr(dimension));
  return builder.create(state)->getResult(0);
}

void add_layout(mlir::OperationState& state, mlir::MLIRContext* context, const KernelLayout& layout) {
  if (const mlir::Attribute attribute = make_layout(context, layout)) state.addAttribute("layout", attribute);
}

}  // namespace

uint64_t number_of(mlir::Operation* op, llvm::StringRef attribute) {
  const auto number = op->getAttrOfType<mlir::IntegerAttr>(attribute);
  return number ? number.getValue().getZExtValue() : 0;
}

SubspanView view_subspan(mlir::Operation* subspan) {
  // The sizes are as many as the type has `?`; what stands before them is the offset.
  const auto type = llvm::cast<mlir::MemRefType>(subspan->getResult(0).getType());
  const unsigned size_count = static_cast<unsigned>(type.getNumDynamicDims());
  const unsigned offset_count = subspan->getNumOperands() - size_count;
  std::optional<mlir::Value> offset;
  if (offset_count > 0) offset = subspan->getOperand(0);
  return {number_of(subspan, "binding"), offset, subspan->getOperands().drop_front(offset_count)};
}

KernelLayout layout_of(mlir::Operation* function) {
  KernelLayout layout;
  function->walk([&](mlir::Operation* op) {
    if (const mlir::Attribute attribute = op->getAttr("layout")) include_text(attribute, layout);
    if (is_operation(op, kConstantLoad)) {
      layout.constant_count = std::max(layout.constant_count, number_of(op, "ordinal") + 1);
    } else if (is_operation(op, kBindingSubspan)) {
      layout.binding_count = std::max(layout.binding_count, number_of(op, "binding") + 1);
    }
  });
  return layout;
}

void note_layout(mlir::Operation* function, const KernelLayout& layout) {
  mlir::OpBuilder builder(function->getContext());
  function->setAttr(kLayoutNote, builder.getDenseI64ArrayAttr({static_cast<int64_t>(layout.constant_count),
                                                               static_cast<int64_t>(layout.binding_count)}));
}

std::optional<KernelLayout> noted_layout(mlir::Operation* function) {
  const auto note = function->getAttrOfType<mlir::DenseI64ArrayAttr>(kLayoutNote);
  if (!note || note.size() != 2) return std::nullopt;
  return KernelLayout{static_cast<uint64_t>(note[0]), static_cast<uint64_t>(note[1])};
}

void note_layouts(mlir::ModuleOp kernels) {
  for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
    if (!kernel.isExternal() && !noted_layout(kernel)) note_layout(kernel, layout_of(kernel));
  }
}

mlir::Location place_of(mlir::ModuleOp kernels) {
  for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
    if (!kernel.isExternal()) return kernel.getLoc();
  }
  return kernels.getLoc();
}

void read_workgroup_size(mlir::Operation* function, unsigned (&sizes)[3]) {
  const auto given = function->getAttrOfType<mlir::ArrayAttr>("workgroup_size");
  if (!given) return;
  for (size_t i = 0; i < given.size() && i < 3; ++i) {
    if (const auto size = llvm::dyn_cast<mlir::IntegerAttr>(given.getValue()[i])) {
      sizes[i] = static_cast<unsigned>(size.getInt());
    }
  }
}

bool resolve_region_workgroups(mlir::Operation* function) {
  bool found = false;
  function->walk([&](mlir::Operation* op) {
    const bool id = is_operation(op, kRegionWorkgroupId);
    if (!id && !is_operation(op, kRegionWorkgroupCount)) return;
    mlir::OpBuilder builder(op);
    const auto dimension = static_cast<unsigned>(number_of(op, "dimension"));
    op->getResult(0).replaceAllUsesWith(
        make_index(builder, op->getLoc(), id ? kWorkgroupId : kWorkgroupCount, dimension));
    op->erase();
    found = true;
  });
  return found;
}

mlir::Value make_workgroup_id(mlir::OpBuilder& builder, mlir::Location location, unsigned dimension) {
  return make_index(builder, location, kWorkgroupId, dimension);
}

mlir::Value make_constant_load(mlir::OpBuilder& builder, mlir::Location location, const KernelLayout& layout,
                               unsigned ordinal) {
  mlir::OperationState state(location, kConstantLoad);
  state.addTypes(builder.getI32Type());
  add_layout(state, builder.getContext(), layout);
  state.addAttribute("ordinal", builder.getIndexAttr(ordinal));
  return builder.create(state)->getResult(0);
}

mlir::Value make_subspan(mlir::OpBuilder& builder, mlir::Location location, const KernelLayout& layout,
                         unsigned binding, mlir::MemRefType type, mlir::ValueRange sizes) {
  mlir::OperationState state(location, kBindingSubspan);
  state.addOperands(sizes);
  state.addTypes(type);
  add_layout(state, builder.getContext(), layout);
  state.addAttribute("binding", builder.getIndexAttr(binding));
  state.addAttribute("alignment", builder.getIndexAttr(64));
  state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr({0, static_cast<int32_t>(sizes.size())}));
  return builder.create(state)->getResult(0);
}

}  // namespace baton::compiler_lite::codegen
