// The local driver: devices local-sync (inline on the thread that submits) and local-task (a pool of workers).
//
// Parameters of local-task: workers=N; spin_us=N, how long a worker without work looks for some before it sleeps;
// inline_us=N, the longest recording (as kernels were measured) that execute() runs itself where it would hand it to a
// worker, 0 for none. Both are chosen by what wakes are measured to cost when not given. Of both devices: native_code=0
// refuses machine code that programs bring, or plugins for them; libraries that are linked into the app still run.
// Threads: as Driver.
#pragma once

#include <memory>
#include <vector>

#include "hal/driver.hpp"
#include "hal/drivers/local/executable_library.h"
#include "hal/drivers/local/kernel_imports.hpp"

namespace baton::hal::drivers::local {

class DispatchTimes;  // dispatch_times.hpp

// A library of kernels that is linked into the app; programs name it with format "static-library" and its name as data.
struct StaticLibrary {
  std::string name;
  baton_executable_library_query_function query;
};

// What the app gives to all devices of the driver.
struct Options {
  std::vector<StaticLibrary> libraries;
  KernelImports imports;
  std::shared_ptr<DispatchTimes> dispatch_times = nullptr;  // Null: nothing is measured.
};

std::unique_ptr<Driver> make_driver(Options options = {});

}  // namespace baton::hal::drivers::local
