// A CUDA driver without CUDA: fills the symbol table of hal/drivers/cuda with functions that keep what they are told
// and do it on the host, in the call. So the translation of commands into driver calls runs, and can be read, where
// there is no GPU.
//
// Every call that does something leaves a line in the log: "cuGraphAddKernelNode scale after 1". Device memory is host
// memory. Kernels are those that a test gives, by name, found in "code" that is a list of names.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace baton::hal::drivers::cuda {
struct Symbols;
}

namespace baton::testing_support {

struct FakeLaunch {
  unsigned grid[3];
  unsigned block[3];
  const std::byte* parameters;
};

struct FakeKernel {
  std::string name;
  std::vector<size_t> parameter_bytes;
  void (*run)(const FakeLaunch& launch);
  int cluster_width = 0;  // That the code requires.
};

struct FakeCuda {
  int device_count = 1;
  int driver_version = 13000;
  CUresult init_result = CUDA_SUCCESS;
  bool new_launches = true;                      // Clusters, cooperative launches.
  bool peer_access = true;                       // Between its devices.
  bool opens_memory = false;                     // Of other processes.
  bool pins = true;                              // Memory of the host that it is shown.
  std::vector<std::pair<int, int>> opened = {};  // Memory of the first is open to the second; else copies are refused.
  std::atomic<bool> events_pass{true};           // False: what was enqueued is never through.
  CUdeviceptr managed_address = 0;               // Is managed memory.
  size_t memory_bytes = size_t{1} << 30;
  int memory_clock_khz = 2'000'000;
  std::vector<FakeKernel> kernels;
  std::vector<std::pair<std::string, std::string>> constants = {};  // Of all code: names, and their bytes.
  std::string failing_entry;                                        // fail_next()
  CUresult failing_result = CUDA_SUCCESS;
  std::vector<std::string> log;
  // Called while a node is added to a graph, and while a kernel is launched on a stream.
  void (*node_added)() = nullptr;
  void (*kernel_launched)() = nullptr;

  // Lines of the log that begin with `prefix`.
  size_t count(const std::string& prefix) const;
  std::string log_text() const;
};

// There is one at a time: the entries of a driver are functions without an object.
FakeCuda& fake_cuda();
// The next call of `entry` fails with `result`. A device of an earlier test may still be going.
void fail_next(const char* entry, CUresult result);
// A fresh one, and the table that leads to it.
std::shared_ptr<const hal::drivers::cuda::Symbols> make_fake_cuda();

// The kernels of the conformance suite (tests/conformance/kernels.h).
std::vector<FakeKernel> fake_conformance_kernels();

}  // namespace baton::testing_support
