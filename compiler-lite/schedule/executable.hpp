// An executable while it is compiled: what can be dispatched of it, and its code for each target.
//
// Executables holds all of a program: executable_sources.hpp fills it from the program's text, dispatches find entry
// points in it, executable_loading.hpp writes it into the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytecode/executable_row.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/schedule/host_code.hpp"
#include "compiler-lite/schedule/launch_attributes.hpp"
#include "llvm/ADT/StringMap.h"

namespace baton::compiler_lite::schedule {

// A global that each device has for itself: the first one's name, and what it is called for another.
std::string global_on(unsigned device, const std::string& name);

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
  // Its tensors begin at multiples of kTransientAlignment: a part of one that doesn't is copied.
  bool aligns_tensors = false;
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

// What the driver can't find in the code: how an entry point is launched.
struct Launch {
  std::string name;
  int64_t constants = 0, bindings = 0;
  bytecode::LaunchRow stated = {};  // By the program, whatever code the device takes.
  // What code wants besides, by its format, in the order of the variants.
  std::vector<std::pair<std::string, bytecode::LaunchRow>> by_format = {};
  std::vector<LaunchAttribute> attributes = {};
};

struct Executable {
  struct Code {
    std::string format;
    std::vector<char> bytes;
    HostCode host = {};
    std::string target = {};     // For people.
    bool says_launches = false;  // The driver finds in it how it is launched, whatever other code wants.
  };
  std::string name;
  mlir::Location location;
  std::vector<Code> variants = {};
  size_t core_variants = 0;           // The first ones, whose workgroups are calls on a core.
  std::vector<Launch> launches = {};  // Empty where the code of all variants says it.
  std::vector<EntryPoint*> entry_points = {};
  std::string registered_name = {};              // Of one without variants; empty: its name.
  std::vector<Launch> registered_launches = {};  // What the program says of one that the host brings.
};

class Executables {
 public:
  Executable& add(llvm::StringRef name, mlir::Location location);
  // The one that is known by `key`, or a new one.
  EntryPoint& add_entry_point(Executable& executable, llvm::StringRef name, llvm::StringRef key);
  const codegen::Kernel& add_kernel(codegen::Kernel kernel);

  // `@executable::@export`, `@executable::@variant::@export` or a group; null when there is none.
  const EntryPoint* find(mlir::SymbolRefAttr symbol) const;
  EntryPoint* find(llvm::StringRef executable, llvm::StringRef key) const;

  const std::vector<std::unique_ptr<Executable>>& all() const { return executables_; }

 private:
  std::vector<std::unique_ptr<Executable>> executables_;
  std::vector<std::unique_ptr<codegen::Kernel>> kernels_;
  llvm::StringMap<std::unique_ptr<EntryPoint>> entry_points_;  // By "executable.key".
};

}  // namespace baton::compiler_lite::schedule
