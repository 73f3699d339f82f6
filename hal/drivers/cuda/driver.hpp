// The CUDA driver: the GPUs that libcuda sees, opened at run time.
//
//   cuda, cuda://0, cuda://GPU-6b5a1c2e-...   by index or by the beginning of the UUID
// Parameters: cuda_mode=auto|stream|graph, cuda_streams=1..16, cuda_capture_check=0|1,
// cuda_legacy_stream=guarded|shared, cuda_graph_report=0|1.
// Threads: as Driver.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/driver.hpp"

namespace baton {
class Timeline;
}

namespace baton::hal::drivers::cuda {

struct CuptiSymbols;
struct Nccl;
struct Symbols;

// Code with functions that kernels of programs import: PTX, a relocatable cubin, a fatbin, an object, an archive, or with
// a linker for it LTO-IR. A function that two define in PTX is refused when a program that imports any is loaded; of
// machine code the linker says what it thinks of that.
struct DeviceFunctions {
  std::string name;  // For messages: the file it came from.
  std::vector<std::byte> code;
};
// Links what the driver's own linker does not take, LTO-IR for one, to machine code for an architecture ("90"). It is
// asked by any thread that loads a program.
struct DeviceCode {
  std::string_view name;  // For messages.
  std::span<const std::byte> bytes;
};
class DeviceLinker {
 public:
  virtual ~DeviceLinker() = default;
  virtual Result<std::vector<std::byte>> link(std::string_view arch, std::span<const DeviceCode> code) const = 0;
};

struct RegisteredFunctions {
  std::vector<DeviceFunctions> functions;
  std::shared_ptr<const DeviceLinker> linker;  // Null: none but the driver's.
};
using FunctionList = std::shared_ptr<const RegisteredFunctions>;

struct Options {
  // Null: libcuda, opened when the driver is first asked for something. Tests bring their own.
  std::shared_ptr<const Symbols> symbols = nullptr;
  // Where devices tell when they ran what (work_listener.hpp); it outlives them. Null: nowhere.
  Timeline* timeline = nullptr;
  // Null: CUPTI, opened when a timeline wants it. Tests bring their own.
  std::shared_ptr<const CuptiSymbols> cupti = nullptr;
  // Null: libnccl, opened when a channel of several ranks is first made.
  std::shared_ptr<const Nccl> nccl = nullptr;
  // Linked with programs that import functions, when they are loaded (linked_functions.hpp).
  std::vector<DeviceFunctions> functions = {};
  // For what the driver's linker does not take; null: that is refused.
  std::shared_ptr<const DeviceLinker> linker = nullptr;
};

std::unique_ptr<Driver> make_driver(Options options = {});

}  // namespace baton::hal::drivers::cuda
