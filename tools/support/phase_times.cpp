#include "tools/support/phase_times.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/text.hpp"
#include "hal/allocator.hpp"

namespace baton::tools {
namespace {

constexpr int kNameWidth = 24;

// The peak of this program alone; getrusage() would include the program that started it.
std::optional<double> resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return std::nullopt;
}

void print_kib(const char* name, double kib) { std::fprintf(stderr, "%-*s%12.1f KiB\n", kNameWidth, name, kib); }

}  // namespace

PhaseTimes::PhaseTimes(std::string_view program) : progress_(program, STDERR_FILENO) {}

void PhaseTimes::begin(std::string phase) {
  progress_.begin(phase);
  phases_.push_back({std::move(phase), Clock::now()});
}

void PhaseTimes::time_devices(std::span<const Ref<hal::Device>> devices) {
  for (const Ref<hal::Device>& device : devices) {
    const Status timed = device->queue().time_executions(true);  // Devices without a clock tell nothing.
  }
}

void PhaseTimes::note_devices(std::span<const Ref<hal::Device>> devices) {
  for (const Ref<hal::Device>& device : devices) {
    const hal::ExecutionTimes times = device->queue().take_execution_times();
    if (times.executions > 0) work_.push_back({text(device->name(), " at work"), times});
    memory_.push_back({text(device->name(), " memory"), device->allocator().memory_use().peak_bytes});
  }
}

void PhaseTimes::print() {
  begin("");
  for (size_t i = 0; i + 1 < phases_.size(); ++i) {
    if (phases_[i].name.empty()) continue;
    const std::chrono::duration<double, std::micro> took = phases_[i + 1].begin - phases_[i].begin;
    std::fprintf(stderr, "%-*s%12.1f us\n", kNameWidth, phases_[i].name.c_str(), took.count());
  }
  for (const Work& work : work_) {
    std::fprintf(stderr, "%-*s%12.1f us in %llu executions\n", kNameWidth, work.name.c_str(),
                 static_cast<double>(work.times.total_ns) / 1000,
                 static_cast<unsigned long long>(work.times.executions));
  }
  for (const Memory& memory : memory_) print_kib(memory.name.c_str(), static_cast<double>(memory.peak_bytes) / 1024);
  if (const std::optional<double> kib = resident_kib()) print_kib("resident memory", *kib);
}

}  // namespace baton::tools
