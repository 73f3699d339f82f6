// StepComparer: compares each command of a run with what a kept one (kept_run.hpp) wrote there.
//
// A command that differs is named, and what was kept takes the place of what it wrote, so that the next one begins as it
// did: every command is judged by itself. Work of a library that this device cannot do is replaced the same way, and named.
// The bytes of a buffer say no type, so whoever compares says which floats may be off: two words that differ are near when
// both are normal floats of that format, or zero, and no farther from each other than the tolerance allows. All else, small
// integers too, differs when a bit does.
// Copies of what the host has, such as parameters, are steps of a device that needs them: they are compared where both runs have
// them, and let alone where one has not.
// Threads: as StepListener.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/replay/kept_run.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {

// How far floats may be off.
struct Rounding {
  double tolerance = 0;        // As a share of the greatest of their range; 0: bytes are equal.
  std::string floats = "f32";  // f16, bf16, f32 or f64.
};

class StepComparer final : public hal::StepListener {
 public:
  static Result<std::shared_ptr<StepComparer>> load(const std::string& folder, const Rounding& rounding);

  Status stepped(hal::Device& device, const hal::Step& step, Status status) override;
  // FAILED_PRECONDITION, naming the first command that differed; else ok. Prints a line for each and one for all.
  Status finish() const;

 private:
  StepComparer(std::vector<KeptStep> steps, SharedBytes snapshots, const Rounding& rounding)
      : steps_(std::move(steps)), snapshots_(std::move(snapshots)), rounding_(rounding) {}
  // The kept step that this one is; null for a copy that only this device needs.
  Result<const KeptStep*> kept_of(const hal::Step& step);
  Result<std::span<const std::byte>> snapshot(const KeptStep& kept, size_t index) const;
  Status put_back(hal::Device& device, const hal::Step& step, const KeptStep& kept) const;

  const std::vector<KeptStep> steps_;
  const SharedBytes snapshots_;
  const Rounding rounding_;
  size_t next_ = 0;  // Of the kept steps.
  uint64_t compared_ = 0;
  std::vector<std::string> differences_;
  std::vector<std::string> replaced_;
};

// Whether `found` is `expected` but for rounding; where not, the first byte that differs.
bool same_but_for_rounding(std::span<const std::byte> expected, std::span<const std::byte> found,
                           const Rounding& rounding, size_t& first_difference);

}  // namespace baton::tools
