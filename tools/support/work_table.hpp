// WorkTable: how many floating-point operations each dispatch of a program does. The compiler leaves it in the module's
// attributes, "flops.executable.entry_point" = "2*w0*w3 + 64": a sum of products of numbers and of words of the dispatch's
// constants. And how fast devices are at best, where they say it (Device::query). A dispatch whose words are filled at each execution, or whose executable is another one's by name, is not known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hal/device.hpp"
#include "vm/program.hpp"

namespace baton::tools {

class WorkTable {
 public:
  void add(const vm::Program& program);
  void add(std::string_view key, std::string_view sum);
  void add(const hal::Device& device);

  // Billions in a second; 0 where it is not known.
  struct Peak {
    double gigabytes = 0;
    double gigaflops = 0;  // Of f32, outside of tensor cores.
  };
  Peak peak(std::string_view device) const;
  void set_peak(std::string device, Peak peak) { peaks_.insert_or_assign(std::move(device), peak); }

  // `constants` are the words with spaces between them, `?` for an unknown one (hal/timeline_observer.hpp).
  std::optional<double> flops(std::string_view executable, std::string_view entry_point,
                              std::string_view constants) const;

 private:
  std::map<std::string, Peak, std::less<>> peaks_;        // By the device's name.
  std::map<std::string, std::string, std::less<>> sums_;  // Empty: two programs say different things.
};

}  // namespace baton::tools
