#include "tools/replay/step_comparer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "hal/host_copy.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

constexpr size_t kNamedMax = 20;

// A format of floats: how wide, and how many bits of the fraction.
struct FloatFormat {
  size_t bytes;
  int fraction_bits;
};
FloatFormat format_of(std::string_view name) {
  if (name == "f64") return {8, 52};
  if (name == "f16") return {2, 10};
  if (name == "bf16") return {2, 7};
  return {4, 23};
}

// The value of a normal float or of zero; NaN for what small integers and other bits look like.
double normal_value(const std::byte* at, FloatFormat format) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, format.bytes);
  const int width = static_cast<int>(8 * format.bytes);
  const int exponent_bits = width - 1 - format.fraction_bits;
  const uint64_t exponent_mask = (uint64_t{1} << exponent_bits) - 1;
  const uint64_t exponent = bits >> format.fraction_bits & exponent_mask;
  const uint64_t fraction = bits & ((uint64_t{1} << format.fraction_bits) - 1);
  const double sign = bits >> (width - 1) ? -1 : 1;
  if (exponent == 0 && fraction == 0) return 0 * sign;
  if (exponent == 0 || exponent == exponent_mask) return std::numeric_limits<double>::quiet_NaN();
  const double mantissa = 1 + static_cast<double>(fraction) / static_cast<double>(uint64_t{1} << format.fraction_bits);
  return sign * std::ldexp(mantissa, static_cast<int>(exponent) - static_cast<int>(exponent_mask / 2));
}

bool near_as(std::span<const std::byte> expected, std::span<const std::byte> found, FloatFormat format,
             double tolerance) {
  if (expected.size() % format.bytes != 0) return false;
  double greatest = 0;
  for (size_t i = 0; i < expected.size(); i += format.bytes) {
    const double value = normal_value(&expected[i], format);
    if (!std::isnan(value)) greatest = std::max(greatest, std::fabs(value));
  }
  for (size_t i = 0; i < expected.size(); i += format.bytes) {
    if (std::memcmp(&expected[i], &found[i], format.bytes) == 0) continue;
    const double difference = normal_value(&expected[i], format) - normal_value(&found[i], format);
    if (!(std::fabs(difference) <= tolerance * greatest)) return false;
  }
  return true;
}

// A copy that a queue was given by itself, not in a program's recording: it is called after its verb.
template <typename Step>
bool is_copy(const Step& step) {
  return step.verb == "copy_buffer" && step.recording == step.verb && step.custom.empty();
}

// Which kernel a command of a module chose may differ between devices; whose command it is may not.
bool is_same(const hal::Step& step, const KeptStep& kept) {
  const bool same_work = kept.custom.empty() ? step.verb == kept.verb && step.name == kept.name : true;
  bool same = same_work && step.custom == kept.custom && step.writes.size() == kept.writes.size();
  for (size_t i = 0; same && i < kept.writes.size(); ++i) {
    same = hal::range_length(step.writes[i]) == kept.writes[i].bytes;
  }
  return same;
}

}  // namespace

bool same_but_for_rounding(std::span<const std::byte> expected, std::span<const std::byte> found,
                           const Rounding& rounding, size_t& first_difference) {
  const auto [first, other] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  first_difference = static_cast<size_t>(first - expected.begin());
  if (first == expected.end() && other == found.end()) return true;
  if (rounding.tolerance == 0 || expected.size() != found.size()) return false;
  return near_as(expected, found, format_of(rounding.floats), rounding.tolerance);
}

Result<std::shared_ptr<StepComparer>> StepComparer::load(const std::string& folder, const Rounding& rounding) {
  BATON_TRY_ASSIGN(std::vector<KeptStep> steps, load_steps(folder));
  BATON_TRY_ASSIGN(SharedBytes snapshots, map_file(folder + "/snapshots.bin"));
  return std::shared_ptr<StepComparer>(new StepComparer(std::move(steps), std::move(snapshots), rounding));
}

Result<const KeptStep*> StepComparer::kept_of(const hal::Step& step) {
  size_t at = next_;
  while (at < steps_.size() && !is_same(step, steps_[at]) && is_copy(steps_[at])) ++at;
  if (at < steps_.size() && is_same(step, steps_[at])) {
    next_ = at + 1;
    return &steps_[at];
  }
  if (is_copy(step)) return static_cast<const KeptStep*>(nullptr);
  if (at == steps_.size()) {
    return failure(StatusCode::kFailedPrecondition, "The run goes on behind the kept one's ", steps_.size(), " steps.");
  }
  const KeptStep& kept = steps_[at];
  return failure(StatusCode::kFailedPrecondition, "The run parts from the kept one: step ", step.describe(), ", with ",
                 step.writes.size(), " ranges that it writes, was ", kept.verb, " '", kept.name, "'",
                 kept.custom.empty() ? "" : " of ", kept.custom, ", with ", kept.writes.size(), ".");
}

Result<std::span<const std::byte>> StepComparer::snapshot(const KeptStep& kept, size_t index) const {
  const KeptStep::Snapshot& write = kept.writes[index];
  if (write.at <= snapshots_.bytes.size() && write.bytes <= snapshots_.bytes.size() - write.at) {
    return snapshots_.bytes.subspan(write.at, write.bytes);
  }
  return failure(StatusCode::kDataLoss, "What step ", kept.number, " wrote ends beyond snapshots.bin.");
}

Status StepComparer::put_back(hal::Device& device, const hal::Step& step, const KeptStep& kept) const {
  for (size_t i = 0; i < kept.writes.size(); ++i) {
    BATON_TRY_ASSIGN(const auto expected, snapshot(kept, i));
    BATON_TRY(hal::copy_from_host(device, expected, step.writes[i]));
  }
  return {};
}

Status StepComparer::stepped(hal::Device& device, const hal::Step& step, Status status) {
  auto found_step = kept_of(step);
  if (!found_step || !*found_step) {
    BATON_TRY(std::move(status));
    return found_step ? Status() : std::move(found_step).error();
  }
  const KeptStep& kept = **found_step;
  ++compared_;
  if (!status.ok()) {
    if (step.verb != "foreign" && step.verb != "host_call" && step.verb != "recording") return status;
    replaced_.push_back(text(step.describe(), ": ", status.message()));
    return put_back(device, step, kept);
  }
  std::vector<std::byte> found;
  for (size_t i = 0; i < step.writes.size(); ++i) {
    BATON_TRY_ASSIGN(const auto expected, snapshot(kept, i));
    found.resize(expected.size());
    BATON_TRY(hal::copy_to_host(device, step.writes[i], found));
    size_t first = 0;
    if (same_but_for_rounding(expected, found, rounding_, first)) continue;
    differences_.push_back(text(step.describe(), ", range ", i, " from byte ", first, " of ", expected.size()));
    return put_back(device, step, kept);
  }
  return {};
}

Status StepComparer::finish() const {
  for (const std::string& one : replaced_) print(text("[REPLACED] ", one, "\n"));
  for (size_t i = 0; i < std::min(differences_.size(), kNamedMax); ++i) {
    print(text("[DIFFERS] ", differences_[i], "\n"));
  }
  print(text(compared_, " steps compared, ", differences_.size(), " differ, ", replaced_.size(), " replaced\n"));
  if (!differences_.empty()) {
    return failure(StatusCode::kFailedPrecondition, "The first command that differs is ", differences_[0], ".");
  }
  size_t reached = next_;
  while (reached < steps_.size() && is_copy(steps_[reached])) ++reached;
  if (reached == steps_.size()) return {};
  return failure(StatusCode::kFailedPrecondition, "The run ended after ", reached, " of ", steps_.size(), " steps.");
}

}  // namespace baton::tools
