// MLIR knows a trait by the name that the compiler prints of `Trait<Empty>`, where Empty is local to a function. clang, which
// built Debian's MLIR, prints `Empty`; g++ prints the function too, and no trait of ours would be known to MLIR. So code that
// g++ compiled asks this function for an id instead of MLIR's own, and it asks MLIR by the name that clang prints.
#if defined(__GNUC__) && !defined(__clang__)

#include <dlfcn.h>

#include <mutex>
#include <set>
#include <string>

#include "mlir/Support/TypeID.h"

namespace {

constexpr llvm::StringRef kFunction = "mlir::TypeID::get<", kLocal = ">()::Empty";

// "mlir::OpTrait::SymbolTable<mlir::TypeID::get<mlir::OpTrait::SymbolTable>()::Empty>" as "mlir::OpTrait::SymbolTable<Empty>".
std::string name_of_clang(llvm::StringRef name) {
  std::string renamed;
  for (;;) {
    const size_t begin = name.find(kFunction);
    const size_t end = begin == name.npos ? name.npos : name.find(kLocal, begin);
    if (end == name.npos) return renamed + name.str();
    renamed += name.take_front(begin).str() + "Empty";
    name = name.drop_front(end + kLocal.size());
  }
}

using Register = mlir::TypeID (*)(llvm::StringRef);

Register find_register() {
  constexpr const char* kSymbol = "_ZN4mlir6detail22FallbackTypeIDResolver22registerImplicitTypeIDEN4llvm9StringRefE";
  return reinterpret_cast<Register>(dlsym(RTLD_NEXT, kSymbol));
}

}  // namespace

mlir::TypeID mlir::detail::FallbackTypeIDResolver::registerImplicitTypeID(llvm::StringRef name) {
  static const Register register_name = find_register();
  // MLIR keeps the name and not its text.
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return register_name(*names.insert(name_of_clang(name)).first);
}

#endif
