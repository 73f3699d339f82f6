#include "tools/support/work_table.hpp"

#include <charconv>
#include <vector>

#include "base/text.hpp"

namespace baton::tools {
namespace {

constexpr std::string_view kPrefix = "flops.";

// What stands before the separator; `rest` goes on behind it.
std::string_view take(std::string_view& rest, std::string_view separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + separator.size());
  return part;
}

std::optional<double> number(std::string_view digits) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> product(std::string_view term, const std::vector<std::string_view>& words) {
  double result = 1;
  while (!term.empty()) {
    std::string_view factor = take(term, "*");
    if (factor.starts_with('w')) {
      const std::optional<double> index = number(factor.substr(1));
      if (!index || *index >= static_cast<double>(words.size())) return std::nullopt;
      factor = words[static_cast<size_t>(*index)];
    }
    const std::optional<double> value = number(factor);
    if (!value) return std::nullopt;
    result *= *value;
  }
  return result;
}

}  // namespace

void WorkTable::add(const vm::Program& program) {
  for (const vm::LinkedModule& module : program.modules()) {
    if (!module.bytecode) continue;
    const bytecode::ModuleView& view = module.bytecode->view();
    for (uint32_t i = 0; i < view.attribute_count(); ++i) {
      const bytecode::AttributeView attribute = view.attribute(i);
      if (attribute.function == bytecode::kNoIndex) add(attribute.key, attribute.value);
    }
  }
}

void WorkTable::add(std::string_view key, std::string_view sum) {
  if (!key.starts_with(kPrefix)) return;
  const auto [found, is_new] = sums_.emplace(key.substr(kPrefix.size()), sum);
  if (!is_new && found->second != sum) found->second.clear();
}

void WorkTable::add(const hal::Device& device) {
  const auto billions = [&](std::string_view key) {
    const auto answer = device.query("hal.device", key);
    return answer.has_value() ? static_cast<double>(*answer) / 1e9 : 0.0;
  };
  set_peak(device.name(), {billions("peak_bytes_per_second"), billions("peak_f32_flops_per_second")});
}

WorkTable::Peak WorkTable::peak(std::string_view device) const {
  const auto found = peaks_.find(device);
  return found == peaks_.end() ? Peak() : found->second;
}

std::optional<double> WorkTable::flops(std::string_view executable, std::string_view entry_point,
                                       std::string_view constants) const {
  const auto found = sums_.find(text(executable, '.', entry_point));
  if (found == sums_.end() || found->second.empty()) return std::nullopt;
  std::vector<std::string_view> words;
  while (!constants.empty()) words.push_back(take(constants, " "));
  double sum = 0;
  for (std::string_view rest = found->second; !rest.empty();) {
    const std::optional<double> term = product(take(rest, " + "), words);
    if (!term) return std::nullopt;
    sum += *term;
  }
  return sum;
}

}  // namespace baton::tools
