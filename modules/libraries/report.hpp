// Which work a library got when the program ran: lines on standard error with ?report=1 behind the plugin.
#pragma once

#include <cstdio>
#include <string>

#include "modules/sdk/module.hpp"

namespace baton::libraries {

// Threads: internally synchronized, a line at a time.
class Report {
 public:
  Report(std::string module, const sdk::Parameters& parameters)
      : module_(std::move(module)), wanted_(parameters.find("report").value_or("0") == "1") {}

  void recorded(const std::string& what) const {
    if (wanted_) std::fprintf(stderr, "%s: recorded %s\n", module_.c_str(), what.c_str());
  }
  void absent(const sdk::Status& why) const {
    const std::string_view text = why.message();
    if (wanted_) {
      std::fprintf(stderr, "%s: is not there: %.*s\n", module_.c_str(), static_cast<int>(text.size()), text.data());
    }
  }

 private:
  std::string module_;
  bool wanted_;
};

}  // namespace baton::libraries
