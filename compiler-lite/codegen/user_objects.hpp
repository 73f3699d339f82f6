// Objects of the user: found, read and looked into before anything is compiled, so that a wrong one is told early.
//
// Threads: functions of the arguments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LogicalResult.h"

namespace llvm::object {
class ObjectFile;
}

namespace baton::compiler_lite::codegen {

// Code of the user that is linked into the executable: bitcode, which is linked before optimization and told by its first bytes or by the ending
// .bc; anything else is an object file or an archive for the linker, or what the target reads itself. With `data` the path is only a name.
struct Object {
  std::string path;
  std::vector<char> data = {};
  mlir::Location location;  // Where messages about it point.
};

// A name in an object that no kernel can call, and why: "a variable".
struct UselessName {
  std::string name;
  llvm::StringRef reason;
};

// What was read, with the names of the functions that it defines for others.
struct LoadedObject {
  std::string path;  // As it was found, for messages.
  mlir::Location location;
  bool is_bitcode;
  std::unique_ptr<llvm::MemoryBuffer> bytes = nullptr;
  std::vector<std::string> defined = {};
  std::vector<UselessName> useless = {};  // For messages.
  // Only the target's linker knows what more it defines.
  bool is_opaque = false;
};

// Where objects are looked for, and what they have to be.
struct ObjectOptions {
  // Reads what only this target has: true for an object that it knows, whose `defined` it fills.
  using Look = mlir::FailureOr<bool> (*)(LoadedObject& object);
  llvm::Triple::ArchType architecture;
  // For paths that are not absolute, after the working directory.
  const std::vector<std::string>& search_paths;
  Look look = nullptr;
};

// What the object's bytes are, without a look at them: the first path that exists, as written, then under each search path.
mlir::FailureOr<LoadedObject> read_object(const Object& object, const ObjectOptions& options);

// All objects, or failure after every message has been given. Bitcode in an archive is an object of its own behind it.
mlir::FailureOr<std::vector<LoadedObject>> load_objects(llvm::ArrayRef<Object> objects, const ObjectOptions& options);

// Adds the names of what `file` defines; the first that can't be read ends it, since damage may say that there are as many as there are numbers.
llvm::Error collect_defined(const llvm::object::ObjectFile& file, LoadedObject& object);

// "the object is 'a.o'": for messages about what none of them has.
std::string describe(llvm::ArrayRef<LoadedObject> objects);
// The same as the end of a sentence, and what they have in place of the function `symbol`: a variable of that name, a function of C++, names that
// are nearly the same.
std::string describe_without(llvm::ArrayRef<LoadedObject> objects, llvm::StringRef symbol);

}  // namespace baton::compiler_lite::codegen
