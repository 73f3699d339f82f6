// Executables: everything that can be dispatched, compiled once for each target, as entry points that the scheduler
// finds by symbol, and an initializer that makes them when the program is loaded.
//
// Sources of entry points: groups of form_dispatches, stream.executable, hal.executable.source, hal.executable. One
// that has neither code nor objects is looked up by name in what the host registered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler-lite/codegen/cuda/executable.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/codegen/objects.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/schedule/hal_calls.hpp"
#include "compiler-lite/schedule/host_code.hpp"
#include "compiler-lite/schedule/launch_attributes.hpp"
#include "compiler-lite/schedule/schedule.hpp"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace baton::compiler_lite {

// What a dispatch of it must know.
struct EntryPoint {
  std::string name;
  std::string executable_global;
  std::string ordinal_global;
  // The code that makes a grid of the workload; null or empty: the workload is the grid.
  mlir::Region* workgroup_count = nullptr;
  // Of a target's own executables; null where the dispatch's operands say everything.
  hal::PipelineLayoutAttr layout = {};
  mlir::ArrayAttr workgroup_size = {};
  int64_t local_memory_bytes = 0;
  // A function (device, workload) -> i1 that says whether it is this one or `fallback`; empty: always this one.
  std::string condition = {};
  const EntryPoint* fallback = nullptr;
  // Of groups; null for others.
  const codegen::Kernel* kernel = nullptr;
  // The same kernel where a workgroup is a block of threads: only its grid differs. Null where there is one grid.
  const codegen::Kernel* block_kernel = nullptr;
  // i1: the device took a variant whose workgroups are blocks of threads. Where there are two grids.
  std::string blocks_global = {};
};

class Executables {
 public:
  Executables(mlir::ModuleOp module, const ScheduleOptions& options) : module_(module), options_(options) {}

  // Compiles all, or fails with messages.
  mlir::LogicalResult compile();

  // `@executable::@export`, `@executable::@variant::@export` or a group; null when there is none.
  const EntryPoint* find(mlir::SymbolRefAttr symbol) const;

  // Writes globals, and their making at the end of an initializer.
  void write(mlir::OpBuilder& initializer, HalCalls& hal, mlir::Value device);

  // Beyond this call entry points have no workgroup_count.
  void erase_sources();

 private:
  struct Blob {
    std::string format;
    std::vector<char> bytes;
    HostCode host = {};
  };
  // What the driver can't find in the code: how its entry points are launched.
  struct Launch {
    std::string name;
    int64_t constants = 0, bindings = 0;
    int64_t workgroup_size[3] = {1, 1, 1};
    int64_t local_memory_bytes = 0;  // Whatever code the device takes.
    // What its code wants besides, by format, in the order of the variants.
    std::vector<std::pair<std::string, int64_t>> local_memory = {};
    std::vector<LaunchAttribute> attributes = {};
  };
  struct Executable {
    std::string name;
    mlir::Location location;
    std::vector<Blob> variants = {};
    std::vector<Launch> launches = {};  // Empty where the code of all variants says it.
    size_t core_variants = 0;           // The first ones, whose workgroups are calls on a core.
    std::vector<EntryPoint*> entry_points = {};
    std::string registered_name = {};              // Of one without variants; empty: its name.
    std::vector<Launch> registered_launches = {};  // What the program says of one that the host brings.
  };

  mlir::LogicalResult find_targets();
  mlir::LogicalResult compile_groups();
  mlir::LogicalResult compile_stream(mlir::Operation* op);
  mlir::LogicalResult compile_source(hal::ExecutableSourceOp op);
  mlir::LogicalResult compile_hal(hal::ExecutableOp op);
  mlir::LogicalResult compile_group_kernels(Executable& executable, mlir::ModuleOp groups, codegen::Tiling tiling);
  mlir::LogicalResult compile_module(Executable& executable, mlir::ModuleOp kernels, hal::ExecutableTargetAttr target,
                                     llvm::ArrayRef<hal::ExecutableObjectAttr> objects, const HostCode& host = {},
                                     mlir::Region* exports = nullptr);
  mlir::LogicalResult compile_for_cuda(Executable& executable, mlir::ModuleOp kernels, hal::ExecutableTargetAttr target,
                                       llvm::ArrayRef<codegen::Object> objects, const HostCode& host,
                                       mlir::Region* exports);
  static mlir::LogicalResult add_stated(Executable& executable, mlir::Region& exports);
  static mlir::FailureOr<std::vector<Launch>> launches_of(mlir::Region& exports);
  mlir::LogicalResult add_cuda_variant(Executable& executable, mlir::ModuleOp kernels,
                                       const codegen::cuda::TargetOptions& options,
                                       llvm::ArrayRef<codegen::Object> objects, const HostCode& host);
  bool has_newer_cuda() const;
  mlir::LogicalResult embed(Executable& executable, hal::ExecutableTargetAttr target,
                            llvm::ArrayRef<hal::ExecutableObjectAttr> objects, mlir::Region& exports,
                            const HostCode& host);
  mlir::LogicalResult embed_for_cpu(Executable& executable, hal::ExecutableTargetAttr target,
                                    llvm::ArrayRef<hal::ExecutableObjectAttr> objects, const HostCode& host);
  void add_core_variant(Executable& executable, Blob variant);
  mlir::LogicalResult add_exports(Executable& executable, mlir::Region& body);
  mlir::Value write_format(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value device, mlir::Location location,
                           const Blob& variant);
  mlir::Value write_load(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value device, const Executable& executable);
  void write_blocks(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value made, const Executable& executable);
  void declare_global(const Executable& executable, llvm::StringRef name, mlir::Type type);
  mlir::Value write_lookup(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value device, const Executable& executable);
  void write_launches(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value device, const Executable& executable,
                      llvm::ArrayRef<Launch> launches, llvm::SmallVectorImpl<mlir::Value>& operands);
  int32_t write_launch_attributes(mlir::OpBuilder& builder, HalCalls& hal, const Executable& executable,
                                  llvm::ArrayRef<Launch> launches, llvm::SmallVectorImpl<mlir::Value>& operands);
  mlir::Value write_local_memory(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value device, mlir::Location location,
                                 const Launch& launch, llvm::StringMap<mlir::Value>& takes);
  mlir::Value write_takes(mlir::OpBuilder& builder, HalCalls& hal, mlir::Value device, mlir::Location location,
                          llvm::StringRef format);
  Executable& add_executable(llvm::StringRef name, mlir::Location location);
  EntryPoint& add_entry_point(Executable& executable, llvm::StringRef name, llvm::StringRef key);

  mlir::ModuleOp module_;
  const ScheduleOptions& options_;
  std::vector<hal::ExecutableTargetAttr> targets_;
  std::vector<std::unique_ptr<Executable>> executables_;
  std::vector<std::unique_ptr<codegen::Kernel>> kernels_;
  llvm::StringMap<std::unique_ptr<EntryPoint>> entry_points_;  // By "executable.export".
};

}  // namespace baton::compiler_lite
