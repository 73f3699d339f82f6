// The null driver: accepts everything, runs nothing, tells what it would have done. Template for a new driver, floor
// for benches (what is left is Baton's own cost), and the way golden tests see what a program records.
//
// Parameters: trace=<path, "-" for standard output>, trace_format=text|json.
// Threads: as Driver.
#pragma once

#include <memory>
#include <string_view>

#include "hal/driver.hpp"

namespace baton::hal::drivers::null {

// Where lines go: whole lines with their ends, one execution at a time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void write(std::string_view lines) = 0;
};

struct TraceOptions {
  std::shared_ptr<TraceSink> sink = nullptr;  // Null: nothing is printed.
  bool json = false;
};

std::unique_ptr<Driver> make_driver(TraceOptions options = {});

}  // namespace baton::hal::drivers::null
