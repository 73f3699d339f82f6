#include "compiler-lite/codegen/vulkan/function_writer.hpp"

#include "compiler-lite/codegen/vulkan/structure.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace baton::compiler_lite::codegen::vulkan {

namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

namespace {

constexpr uint32_t kWorkgroupScope = 2, kSubgroupScope = 3;
constexpr spv::BuiltIn kSubgroupNumbers[] = {spv::kSubgroupSize, spv::kSubgroupId, spv::kSubgroupInvocationId};
// Acquires and releases what workgroups and buffers hold, made available and visible.
constexpr uint32_t kBarrierSemantics = 0x8 | 0x40 | 0x100 | 0x2000 | 0x4000;
constexpr uint32_t kAligned = 0x2;
constexpr llvm::StringLiteral kSpecialRegister = "baton.llvm.nvvm.read.ptx.sreg.";

bool calls(mlir::Operation* op, llvm::StringRef prefix) {
  auto call = llvm::dyn_cast<LLVM::CallOp>(op);
  return call && call.getCallee() && call.getCallee()->starts_with(prefix);
}

bool is_barrier(mlir::Operation* op) { return calls(op, "baton.llvm.nvvm.barrier"); }
// To the thread whose number differs by one bit.
bool is_handing_over(mlir::Operation* op) { return calls(op, "baton.llvm.nvvm.shfl.sync.bfly."); }

}  // namespace

// Whether the kernel asks for the number of its workgroup, and for nothing else that a grid says: then the grid may have
// any shape.
static bool takes_any_grid(LLVM::LLVMFuncOp function) {
  bool asks = false, asks_more = false;
  function.walk([&](LLVM::CallOp call) {
    llvm::StringRef name = call.getCallee().value_or("");
    if (!name.consume_front(kSpecialRegister)) return;
    asks = asks || name == "ctaid.x";
    asks_more = asks_more || name.starts_with("nctaid.") || (name.starts_with("ctaid.") && name != "ctaid.x");
  });
  return asks && !asks_more;
}

LogicalResult FunctionWriter::refuse(mlir::Operation* op, const llvm::Twine& why) {
  if (!problem_.empty()) return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto intrinsic = llvm::dyn_cast<LLVM::CallIntrinsicOp>(op);
  stream << "'" << (intrinsic ? intrinsic.getIntrin() : op->getName().getStringRef()) << "'";
  if (op->getNumResults() == 1) stream << " of " << op->getResult(0).getType();
  stream << " is not supported in kernels for Vulkan" << (why.isTriviallyEmpty() ? "" : ": ") << why << ".";
  problem_ = stream.str();
  return failure();
}

LogicalResult FunctionWriter::write(LLVM::LLVMFuncOp function) {
  begin(function);
  if (mlir::failed(write_region(function.getBody()))) return failure();
  writer_.effect(spv::kFunctionEnd, {});
  writer_.entry_point(function_, shape_.name, variables_, shape_.workgroup_size);
  return success();
}

void FunctionWriter::begin_block(Id label) {
  writer_.effect(spv::kLabel, {label});
  block_ = label;
}

void FunctionWriter::begin(LLVM::LLVMFuncOp function) {
  function.walk([&](mlir::Operation* op) {
    has_barriers_ = has_barriers_ || is_barrier(op);
    hands_over_ = hands_over_ || is_handing_over(op);
  });
  if (has_barriers_) writer_.need(spv::kVulkanMemoryModel);
  find_shared_bindings(function);
  find_divergent(function);
  bool uses_shared = false;
  function.walk([&](LLVM::AddressOfOp op) { uses_shared = uses_shared || op.getType().getAddressSpace() == 3; });
  const Id nothing = writer_.void_type();
  const Id type = writer_.type(spv::kTypeFunction, {nothing}), made = writer_.new_id();
  // Variables of the module are declared before the function is written.
  variables_.push_back(writer_.record_variable());
  if (uses_shared) shared_words();
  for (const spv::BuiltIn each : {spv::kNumWorkgroups, spv::kWorkgroupId, spv::kLocalInvocationId}) {
    variables_.push_back(writer_.built_in(each));
  }
  if (hands_over_) {
    writer_.need(spv::kGroupNonUniform);
    writer_.need(spv::kGroupNonUniformShuffle);
    writer_.note((spv::kHandsOver + llvm::Twine(shape_.name)).str());
    for (const spv::BuiltIn each : kSubgroupNumbers) variables_.push_back(writer_.built_in(each, /*is_scalar=*/true));
  }
  writer_.effect(spv::kFunction, {nothing, made, 0, type});
  begin_block(writer_.new_id());
  load_arguments(function);
  function_ = made;
}

// A device may take few workgroups in a row (65535 where it offers the least), and a long row comes as several. Where
// that makes more than there are, the last ones do nothing: whole workgroups, so no barrier waits for them.
void FunctionWriter::fold_grid(Id record) {
  const Id u32 = writer_.int_type(32), u64 = writer_.int_type(64), row = writer_.vector_type(u32, 3);
  const Id id = writer_.op(spv::kLoad, row, {writer_.built_in(spv::kWorkgroupId)});
  const Id count = writer_.op(spv::kLoad, row, {writer_.built_in(spv::kNumWorkgroups)});
  const auto part = [&](Id vector, uint32_t axis) { return writer_.op(spv::kCompositeExtract, u32, {vector, axis}); };
  const Id before = writer_.op(spv::kIMul, u32, {part(id, 1), part(count, 0)});
  workgroup_ = writer_.op(spv::kIAdd, u32, {before, part(id, 0)});
  const uint64_t at = uint64_t{16} * shape_.binding_count + uint64_t{4} * shape_.constant_count;
  const Id where = writer_.op(spv::kIAdd, u64, {record, writer_.number64(at)});
  const Id pointer = writer_.op(spv::kConvertUToPtr, writer_.pointer_type(spv::kPhysicalStorageBuffer, u32), {where});
  const Id length = writer_.op(spv::kLoad, u32, {pointer, kAligned, 4});
  const Id surplus = writer_.op(spv::kUGreaterThanEqual, writer_.bool_type(), {workgroup_, length});
  const Id leave = writer_.new_id(), work = writer_.new_id();
  writer_.effect(spv::kSelectionMerge, {work, 0});
  writer_.effect(spv::kBranchConditional, {surplus, leave, work});
  begin_block(leave);
  writer_.effect(spv::kReturn, {});
  begin_block(work);
}

// The record of the dispatch: pointers, lengths, constants, and how many workgroups there are in x.
void FunctionWriter::load_arguments(LLVM::LLVMFuncOp function) {
  const Id u32 = writer_.int_type(32), u64 = writer_.int_type(64);
  const Id place = writer_.op(spv::kAccessChain, writer_.pointer_type(spv::kPushConstant, u64),
                              {writer_.record_variable(), writer_.number(0)});
  const Id record = writer_.op(spv::kLoad, u64, {place});
  if (takes_any_grid(function)) {
    fold_grid(record);
    writer_.note((spv::kFoldsGrid + llvm::Twine(shape_.name)).str());
  }
  const auto load = [&](Id type, uint64_t at, uint32_t alignment) {
    const Id where = writer_.op(spv::kIAdd, u64, {record, writer_.number64(at)});
    const Id pointer =
        writer_.op(spv::kConvertUToPtr, writer_.pointer_type(spv::kPhysicalStorageBuffer, type), {where});
    return writer_.op(spv::kLoad, type, {pointer, kAligned, alignment});
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const mlir::BlockArgument argument = function.getArgument(i);
    if (argument.use_empty()) continue;
    const unsigned bindings = shape_.binding_count, constants_end = bindings + shape_.constant_count;
    if (i < bindings) {
      values_[argument] = {load(u64, uint64_t{8} * i, 8)};
    } else if (i < constants_end) {
      values_[argument] = {load(u32, uint64_t{16} * bindings + uint64_t{4} * (i - bindings), 4)};
    } else if (i < constants_end + bindings) {  // A length, for its check.
      values_[argument] = {load(u64, uint64_t{8} * (i - shape_.constant_count), 8)};
    } else {  // Where a check writes.
      const uint64_t end = uint64_t{16} * bindings + uint64_t{4} * shape_.constant_count + 4;
      values_[argument] = {writer_.op(spv::kIAdd, u64, {record, writer_.number64(llvm::alignTo(end, 8))})};
    }
  }
}

// Those that threads may write for each other.
void FunctionWriter::find_shared_bindings(LLVM::LLVMFuncOp function) {
  llvm::SmallVector<mlir::Value> read, written;
  function.walk([&](mlir::Operation* op) {
    Roots seen;
    if (auto load = llvm::dyn_cast<LLVM::LoadOp>(op)) collect_roots(load.getAddr(), seen, read);
    if (auto store = llvm::dyn_cast<LLVM::StoreOp>(op)) collect_roots(store.getAddr(), seen, written);
  });
  for (const mlir::Value each : read) {
    if (each && llvm::is_contained(written, each)) shared_bindings_.insert(each);
  }
}

LogicalResult FunctionWriter::write_region(mlir::Region& region) {
  for (mlir::Operation& op : region.front()) {
    if (mlir::failed(write_op(&op))) return failure();
  }
  return success();
}

LogicalResult FunctionWriter::write_op(mlir::Operation* op) {
  if (llvm::isa<LLVM::ReturnOp>(op)) return writer_.effect(spv::kReturn, {}), success();
  if (llvm::isa<scf::YieldOp, scf::ConditionOp>(op)) return success();
  for (const mlir::Type type : op->getResultTypes()) {
    if (mlir::failed(check_type(op, type))) return failure();
  }
  if (auto choice = llvm::dyn_cast<scf::IfOp>(op)) return write_if(choice);
  if (auto loop = llvm::dyn_cast<scf::WhileOp>(op)) return write_loop(loop);
  if (auto choice = llvm::dyn_cast<scf::IndexSwitchOp>(op)) return write_switch(choice);
  if (auto call = llvm::dyn_cast<LLVM::CallOp>(op)) return write_call(call);
  LogicalResult result = success();
  if (write_memory(op, result)) return result;
  if (write_aggregate(op) || write_bitcast(op) || write_cast(op) || write_integer(op) || write_float(op)) {
    return success(problem_.empty());
  }
  return refuse(op);
}

// The regions one after the other, each ending at `merge`, where the results are joined.
LogicalResult FunctionWriter::write_arms(mlir::Operation* op, llvm::ArrayRef<Id> labels,
                                         llvm::ArrayRef<mlir::Region*> regions, Id merge) {
  llvm::SmallVector<llvm::SmallVector<uint32_t>> sources;
  for (const mlir::Type type : op->getResultTypes()) sources.resize(sources.size() + scalars_of(type).size());
  for (size_t i = 0; i < labels.size(); ++i) {
    begin_block(labels[i]);
    if (!regions[i]->empty() && mlir::failed(write_region(*regions[i]))) return failure();
    size_t next = 0;
    if (!sources.empty()) {
      for (const mlir::Value value : regions[i]->front().getTerminator()->getOperands()) {
        for (const Id each : ids(value)) sources[next++].append({each, block_});
      }
    }
    branch(merge);
  }
  begin_block(merge);
  size_t next = 0;
  for (const mlir::Value result : op->getResults()) {
    Ids joined;
    for (const mlir::Type scalar : scalars_of(result.getType())) {
      joined.push_back(writer_.op(spv::kPhi, type_of(scalar), sources[next++]));
    }
    values_[result] = joined;
  }
  return success();
}

LogicalResult FunctionWriter::write_if(scf::IfOp op) {
  const Id yes = writer_.new_id(), no = writer_.new_id(), merge = writer_.new_id();
  writer_.effect(spv::kSelectionMerge, {merge, 0});
  writer_.effect(spv::kBranchConditional, {id(op.getCondition()), yes, no});
  return write_arms(op, {yes, no}, {&op.getThenRegion(), &op.getElseRegion()}, merge);
}

LogicalResult FunctionWriter::write_switch(scf::IndexSwitchOp op) {
  const Id merge = writer_.new_id();
  llvm::SmallVector<Id> labels = {writer_.new_id()};
  llvm::SmallVector<mlir::Region*> regions = {&op.getDefaultRegion()};
  llvm::SmallVector<uint32_t> words = {id(op.getArg()), labels[0]};
  for (size_t i = 0; i < op.getCases().size(); ++i) {
    labels.push_back(writer_.new_id());
    regions.push_back(&op.getCaseRegions()[i]);
    words.append({static_cast<uint32_t>(op.getCases()[i]), labels.back()});
  }
  writer_.effect(spv::kSelectionMerge, {merge, 0});
  writer_.effect(spv::kSwitch, words);
  return write_arms(op, labels, regions, merge);
}

// Values in which threads of a workgroup may differ: what comes of a thread's number or of memory.
void FunctionWriter::find_divergent(LLVM::LLVMFuncOp function) {
  const auto any = [&](mlir::ValueRange values) {
    return llvm::any_of(values, [&](mlir::Value each) { return divergent_.contains(each); });
  };
  bool grows = true;
  const auto mark = [&](mlir::Value value) { grows = divergent_.insert(value).second || grows; };
  const auto visit = [&](mlir::Operation* op) {
    if (auto loop = llvm::dyn_cast<scf::WhileOp>(op)) {
      auto condition = llvm::cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
      for (unsigned i = 0; i < loop.getNumResults(); ++i) {
        if (!any({loop.getInits()[i], condition.getArgs()[i], condition.getCondition()})) continue;
        mark(loop.getResult(i));
        mark(loop.getBeforeArguments()[i]);
      }
      return;
    }
    auto call = llvm::dyn_cast<LLVM::CallOp>(op);
    const bool is_source =
        llvm::isa<LLVM::LoadOp>(op) ||
        (call && call.getCallee() && (call.getCallee()->contains(".tid.") || libraries_.find(*call.getCallee())));
    for (const mlir::OpResult result : op->getResults()) {
      bool is = is_source || any(op->getOperands());
      for (mlir::Region& region : op->getRegions()) {
        is = is || any(region.front().getTerminator()->getOperand(result.getResultNumber()));
      }
      if (is) mark(result);
    }
  };
  while (grows) {
    grows = false;
    function.getBody().walk(visit);
  }
}

// What is computed before the condition is the body; what stands behind it only hands on (structure.cpp). Where threads
// leave at different turns, a turn begins by asking who is still there, and what comes out is what the head was given:
// Mesa's CPU driver keeps for those who have left only what a head holds.
LogicalResult FunctionWriter::write_loop(scf::WhileOp op) {
  auto condition = llvm::cast<scf::ConditionOp>(op.getBefore().front().getTerminator());
  mlir::Operation* handed_on = op.getAfter().front().getTerminator();
  if (handed_on->getOperands() != mlir::ValueRange(op.getAfter().getArguments())) return refuse(op);
  const bool asks_first = divergent_.contains(condition.getCondition());
  const Id before = block_, header = writer_.new_id(), body = writer_.new_id(), again = writer_.new_id(),
           merge = writer_.new_id();
  branch(header);
  begin_block(header);
  llvm::SmallVector<size_t> next_words;
  const auto carry = [&](Id type, Id first) {
    const Id made = writer_.op(spv::kPhi, type, {first, before, 0, again});
    next_words.push_back(writer_.position() - 2);
    return made;
  };
  for (const auto& [argument, start] : llvm::zip_equal(op.getBeforeArguments(), op.getInits())) {
    Ids carried;
    for (const auto& [scalar, first] : llvm::zip_equal(scalars_of(argument.getType()), Ids(ids(start)))) {
      carried.push_back(carry(type_of(scalar), first));
    }
    values_[argument] = carried;
  }
  const Id is_there = asks_first ? carry(writer_.bool_type(), writer_.truth(true)) : 0;
  writer_.effect(spv::kLoopMerge, {merge, again, 0});
  if (asks_first) {
    writer_.effect(spv::kBranchConditional, {is_there, body, merge});
  } else {
    branch(body);
  }
  begin_block(body);
  if (mlir::failed(write_region(op.getBefore()))) return failure();
  const Id goes_on = id(condition.getCondition());
  branch(again);
  begin_block(again);
  if (asks_first) {
    branch(header);
  } else {
    writer_.effect(spv::kBranchConditional, {goes_on, header, merge});
  }
  size_t next = 0;
  for (const auto& [argument, result, value] :
       llvm::zip_equal(op.getBeforeArguments(), op.getResults(), condition.getArgs())) {
    const Ids last = ids(value);
    for (const Id each : last) writer_.set_word(next_words[next++], each);
    values_[result] = asks_first ? Ids(ids(argument)) : last;
  }
  if (asks_first) writer_.set_word(next_words[next], goes_on);
  begin_block(merge);
  return success();
}

void FunctionWriter::call_library(LLVM::CallOp op, const LibraryCalls::Callee& callee) {
  llvm::SmallVector<uint32_t> words = {callee.function};
  for (const mlir::Value each : op.getArgOperands()) words.push_back(id(each));
  const Id made = writer_.op(spv::kFunctionCall, callee.result, words);
  if (op->getNumResults() == 1) set(op, {made});
}

// Neighbours in a subgroup are neighbours in the kernel, however the device numbers the threads of a workgroup.
Id FunctionWriter::thread_number() {
  const Id u32 = writer_.int_type(32);
  const auto load = [&](spv::BuiltIn which) { return writer_.op(spv::kLoad, u32, {writer_.built_in(which, true)}); };
  const Id before = writer_.op(spv::kIMul, u32, {load(spv::kSubgroupId), load(spv::kSubgroupSize)});
  return writer_.op(spv::kIAdd, u32, {before, load(spv::kSubgroupInvocationId)});
}

Id FunctionWriter::thread_place(uint32_t axis) {
  const Id u32 = writer_.int_type(32);
  const unsigned(&sizes)[3] = shape_.workgroup_size;
  const bool is_row = sizes[1] == 1 && sizes[2] == 1;
  if (is_row) return axis == 0 ? thread_number() : writer_.number(0);
  const unsigned stride = axis == 0 ? 1 : axis == 1 ? sizes[0] : sizes[0] * sizes[1];
  const Id rows = writer_.op(spv::kUDiv, u32, {thread_number(), writer_.number(stride)});
  return writer_.op(spv::kUMod, u32, {rows, writer_.number(sizes[axis])});
}

// Who the thread is, what it hands over, barriers, and functions of libraries.
LogicalResult FunctionWriter::write_call(LLVM::CallOp op) {
  llvm::StringRef name = op.getCallee().value_or("");
  if (is_barrier(op)) {
    const Id scope = writer_.number(kWorkgroupScope);
    writer_.effect(spv::kControlBarrier, {scope, scope, writer_.number(kBarrierSemantics)});
    return success();
  }
  if (is_handing_over(op)) {
    const Id value = id(op.getArgOperands()[1]), distance = id(op.getArgOperands()[2]);
    set(op, {writer_.op(spv::kGroupNonUniformShuffleXor, type_of(op->getResult(0).getType()),
                        {writer_.number(kSubgroupScope), value, distance})});
    return success();
  }
  if (const LibraryCalls::Callee* callee = libraries_.find(name)) return call_library(op, *callee), success();
  const Id u32 = writer_.int_type(32);
  if (name == "baton.llvm.nvvm.rcp.approx.ftz.f") {
    const Id f32 = writer_.float_type(32);
    set(op,
        {exact(writer_.op(spv::kFDiv, f32, {writer_.float_number(32, 0x3F800000), id(op->getOperand(0))}), nullptr)});
    return success();
  }
  if (!name.consume_front(kSpecialRegister) || name.size() < 2) {
    return refuse(op, "nothing defines '" + op.getCallee().value_or("a pointer") + "'");
  }
  const uint32_t axis = static_cast<uint32_t>(name.back() - 'x');
  if (name.starts_with("ntid.")) {
    set(op, {writer_.number(shape_.workgroup_size[axis])});
    return success();
  }
  const bool thread = name.starts_with("tid."), group = name.starts_with("ctaid."), count = name.starts_with("nctaid.");
  if (!thread && !group && !count) return refuse(op, "'" + name + "' is no part of SPIR-V");
  if (thread && hands_over_) {
    set(op, {thread_place(axis)});
    return success();
  }
  if (group && workgroup_ != 0) {
    set(op, {workgroup_});
    return success();
  }
  const spv::BuiltIn which = thread ? spv::kLocalInvocationId : group ? spv::kWorkgroupId : spv::kNumWorkgroups;
  const Id vector = writer_.op(spv::kLoad, writer_.vector_type(u32, 3), {writer_.built_in(which)});
  set(op, {writer_.op(spv::kCompositeExtract, u32, {vector, axis})});
  return success();
}

}  // namespace baton::compiler_lite::codegen::vulkan
