// The fake GPU as a file that is opened in place of libcuda.so.1: for programs that tests do not link, as Python is. Its
// kernels are those of the conformance suite.
//
//   BATON_FAKE_DEVICES=2    how many it has (1)
//   BATON_FAKE_PEERS=0      they do not reach each other's memory
//   BATON_FAKE_LOG=file     what it was told, when the process ends
//
//   baton_fake_cuda_hold(1) what was enqueued, and what will be, is not through until it is called with 0
//
// An entry is resolved when somebody looks for it: then the table is there, and the entry is the table's.
#include <cstdio>
#include <cstdlib>

#include "hal/drivers/cuda/symbols.hpp"
#include "tests/support/fake_cuda.hpp"

namespace {

void write_log() {
  std::FILE* file = std::fopen(std::getenv("BATON_FAKE_LOG"), "w");
  if (!file) return;
  std::fputs(baton::testing_support::fake_cuda().log_text().c_str(), file);
  std::fclose(file);
}

const baton::hal::drivers::cuda::Symbols& table() {
  static const auto* const one = [] {
    auto* made = new std::shared_ptr(baton::testing_support::make_fake_cuda());  // As long as the process.
    baton::testing_support::FakeCuda& fake = baton::testing_support::fake_cuda();
    fake.kernels = baton::testing_support::fake_conformance_kernels();
    if (const char* devices = std::getenv("BATON_FAKE_DEVICES")) fake.device_count = std::atoi(devices);
    if (const char* peers = std::getenv("BATON_FAKE_PEERS")) fake.peer_access = std::atoi(peers) != 0;
    if (std::getenv("BATON_FAKE_LOG")) std::atexit(write_log);
    return made;
  }();
  return **one;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void baton_fake_cuda_hold(int held) {
  static_cast<void>(table());
  baton::testing_support::fake_cuda().events_pass = held == 0;
}

#define TEXT_INNER(name) #name
#define TEXT(name) TEXT_INNER(name)
#define ENTRY_INNER(member, exact)                                                              \
  extern "C" void (*find_##member())() { return reinterpret_cast<void (*)()>(table().member); } \
  extern "C" __attribute__((visibility("default"), ifunc("find_" #member))) void fake_##member() __asm__(exact);
#define ENTRY(member, exact) ENTRY_INNER(member, exact)
#define SYMBOL(name) ENTRY(name, TEXT(name))
#define SYMBOL_AS(member, exact, ...) ENTRY(member, exact)
#include "hal/drivers/cuda/symbols.inc"
