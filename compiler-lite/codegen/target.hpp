// Target: a kind of device code that kernels become. Each target has a folder beside this file (cpu, cuda, vulkan)
// and a line in targets.inc; nothing outside of its folder knows its name, its formats or its devices.
//
// The flow: the command line or the program says #hal.executable.target attributes, find_target says whose they are,
// schedule/ hands that target kernels (compile) or the user's objects (embed), and puts the code into the program.
//
// To add a target: a folder with a class that answers what is virtual here, and a line in targets.inc.
// Threads: targets are immutable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler-lite/codegen/stage_times.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "compiler-lite/codegen/user_objects.hpp"
#include "compiler-lite/codegen/variant.hpp"
#include "compiler-lite/device_linker.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::codegen {

struct Attention;

// What is the same in everything that is compiled for a target.
struct TargetFacts {
  struct Backend {
    llvm::StringLiteral name;
    llvm::StringLiteral formats;  // For --list-targets.
  };
  struct Option {
    llvm::StringLiteral name;
    llvm::StringLiteral meaning;  // For --help.
    llvm::ArrayRef<llvm::StringLiteral> aliases = {};
  };
  // Names of --target-device. The first one is listed, the others mean the same.
  llvm::ArrayRef<llvm::StringLiteral> devices;
  // Names of --target-backends. The first one is the target's own: #hal.executable.target says it.
  llvm::ArrayRef<Backend> backends;
  // Formats of #hal.executable.target that code is made for; empty: whatever stands there.
  llvm::ArrayRef<llvm::StringLiteral> formats = {};
  // Flags of the command line that are this target's alone.
  llvm::ArrayRef<Option> options = {};
  // What a workgroup is: it decides how groups are divided, and dispatches take the grid that fits.
  Tiling tiling = Tiling::kBlocks;
  // The code gets hal.executable.constants when it is loaded.
  bool takes_constants = false;
  // Kernels can check their accesses (TargetSettings::sanitize).
  bool checks_accesses = false;
  // Any thread can combine its value with an element of a result in one atomic step (scatter.hpp).
  bool has_atomics = false;
  // Drivers read from the code itself how its kernels are launched; else the program says it beside the code.
  bool code_says_launches = false;
  // The user's kernels may want tensors that begin at a multiple of some bytes, as transients do (storage buffers).
  bool aligns_tensors = false;
};

// What the command line says to all targets.
struct TargetSettings {
  // Where paths of objects that are not absolute are looked for, after the working directory.
  std::vector<std::string> object_search_paths = {};
  std::map<std::string, std::string> options = {};  // By the name of TargetFacts::Option.
  std::string* explanation = nullptr;               // Of --explain.
  // Kernels that are generated check each access, where the target does that.
  bool sanitize = false;
  StageTimes* times = nullptr;  // When set, gets what code generation takes.
  DeviceLinker device_linker = nullptr;

  // Empty for an option that isn't given.
  std::string option(llvm::StringRef name) const;
};

struct CompileRequest {
  // Entry points and what they call: func.funcs that speak to their dispatch through hal.interface.*. The target's to
  // change.
  mlir::ModuleOp kernels;
  hal::ExecutableTargetAttr target;
  // All that the program is compiled for: what another one of them brings needn't be brought along.
  llvm::ArrayRef<hal::ExecutableTargetAttr> beside;
  llvm::ArrayRef<Object> objects;  // To link with what calls them.
  const TargetSettings& settings;

  mlir::Location location() const { return mlir::ModuleOp(kernels).getLoc(); }
};

struct EmbedRequest {
  llvm::StringRef name;  // Of the executable.
  mlir::Location location;
  hal::ExecutableTargetAttr target;
  llvm::ArrayRef<EntryPoint> entry_points;  // As the program calls them.
  unsigned constant_count;                  // hal.executable.constants, which the code gets when it is loaded.
  llvm::ArrayRef<Object> objects;           // At least one.
  const TargetSettings& settings;
};

class Target {
 public:
  virtual ~Target() = default;

  const TargetFacts& facts() const { return facts_; }
  // Whether `target` is of this kind.
  bool takes(hal::ExecutableTargetAttr target) const;

  // What --target-device and --target-backends mean, which name nothing more; null after a message, where an option says
  // what cannot be.
  virtual hal::ExecutableTargetAttr usual(mlir::MLIRContext* context, const TargetSettings& settings) const = 0;
  // Dialects and interfaces that compile() makes and uses, beside those of register_codegen.
  virtual void register_dialects(mlir::DialectRegistry&) const {}
  // Kernels to code; several variants where devices of this kind differ, the better ones first.
  virtual mlir::FailureOr<std::vector<Variant>> compile(const CompileRequest& request) const = 0;
  // The user's objects as code; without an own answer they are one binary, which is taken as it is.
  virtual mlir::FailureOr<Variant> embed(const EmbedRequest& request) const;

  // Whether compile() has code for it as one kernel (attention.hpp); else its products and its softmax are kernels.
  virtual bool takes_attention(hal::ExecutableTargetAttr, const Attention&) const { return false; }

  // Whether compile() has code for these kernels, each one loop's turns, and room for what a turn computes.
  virtual bool takes_loops(hal::ExecutableTargetAttr, mlir::OwningOpRef<mlir::ModuleOp>) const { return false; }

  // Memory that threads of a workgroup share, as much as a kernel may count on.
  virtual int64_t local_bytes(hal::ExecutableTargetAttr) const { return 0; }

  // For people and tests, which look into code generation with baton-codegen. The target that an architecture's name
  // means ("x86_64", "sm_80"); null for another kind's.
  virtual hal::ExecutableTargetAttr of_architecture(mlir::MLIRContext*, llvm::StringRef) const { return {}; }
  // What compile() makes at a stage on its way, as text or bytes.
  virtual mlir::FailureOr<std::string> show(const CompileRequest& request, llvm::StringRef stage) const;

 protected:
  explicit Target(const TargetFacts& facts) : facts_(facts) {}

  hal::ExecutableTargetAttr attribute(mlir::MLIRContext* context, llvm::StringRef format,
                                      mlir::DictionaryAttr configuration = {}) const;

 private:
  TargetFacts facts_;
};

// The one binary that is the user's, for any kind of device.
mlir::FailureOr<Variant> embed_binary(const EmbedRequest& request);

// In the order of targets.inc. Code is made for the first one when neither program nor command line names a target.
llvm::ArrayRef<const Target*> all_targets();
// Null for a kind that no target takes: its code can't be made here, but taken from the user.
const Target* find_target(hal::ExecutableTargetAttr target);
// "llvm-cpu with the formats a and b, and for cuda"
std::string generated_targets();

}  // namespace baton::compiler_lite::codegen
