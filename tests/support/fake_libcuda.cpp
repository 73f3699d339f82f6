// The fake GPU as a file that is opened in place of libcuda.so.1: for programs that tests do not link, as Python is. Its
// kernels are those of the conformance suite.
//
// An entry is resolved when somebody looks for it: then the table is there, and the entry is the table's.
#include "hal/drivers/cuda/symbols.hpp"
#include "tests/support/fake_cuda.hpp"

namespace {

const baton::hal::drivers::cuda::Symbols& table() {
  static const auto* const one = [] {
    auto* made = new std::shared_ptr(baton::testing_support::make_fake_cuda());  // As long as the process.
    baton::testing_support::fake_cuda().kernels = baton::testing_support::fake_conformance_kernels();
    return made;
  }();
  return **one;
}

}  // namespace

#define TEXT_INNER(name) #name
#define TEXT(name) TEXT_INNER(name)
#define ENTRY_INNER(member, exact)                                                              \
  extern "C" void (*find_##member())() { return reinterpret_cast<void (*)()>(table().member); } \
  extern "C" __attribute__((visibility("default"), ifunc("find_" #member))) void fake_##member() __asm__(exact);
#define ENTRY(member, exact) ENTRY_INNER(member, exact)
#define SYMBOL(name) ENTRY(name, TEXT(name))
#define SYMBOL_AS(member, exact, ...) ENTRY(member, exact)
#include "hal/drivers/cuda/symbols.inc"
