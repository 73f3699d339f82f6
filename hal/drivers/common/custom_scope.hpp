// The custom command that a driver's command buffer records now: between begin_custom and end_custom extensions are granted.
// Threads: one at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"
#include "hal/command_buffer.hpp"

namespace baton::hal {

class CustomScope {
 public:
  void begin(const CustomCommand& command) {
    name_ = text(command.module, ".", command.function);
    traits_ = command.traits;
  }
  void end() {
    name_.clear();
    traits_ = CommandTraits::kNone;
  }

  // "blas.axpy"; empty when no custom command records.
  const std::string& name() const { return name_; }
  CommandTraits traits() const { return traits_; }

  // Whether `extension` is asked for where it may be.
  Status check(std::string_view extension) const {
    if (!name_.empty()) return {};
    return failure(StatusCode::kFailedPrecondition, "Extension '", extension,
                   "' is for a custom command while it records; none does.");
  }

 private:
  std::string name_;
  CommandTraits traits_ = CommandTraits::kNone;
};

}  // namespace baton::hal
