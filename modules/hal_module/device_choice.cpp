#include "modules/hal_module/device_choice.hpp"

#include <charconv>
#include <optional>

namespace baton::modules {
namespace {

struct Choice {
  std::string_view kind;  // Empty: any.
  size_t ordinal = 0;     // Among those of its kind.
};

std::optional<Choice> parse(std::string_view text) {
  const size_t bracket = text.find('[');
  Choice choice{text.substr(0, bracket)};
  if (bracket == text.npos) return text.empty() ? std::nullopt : std::optional(choice);
  const std::string_view number = text.substr(bracket + 1);
  const char* const end = number.data() + number.size();
  const auto [at, error] = std::from_chars(number.data(), end, choice.ordinal);
  if (error != std::errc() || std::string_view(at, static_cast<size_t>(end - at)) != "]") return std::nullopt;
  return choice;
}

bool is_of_kind(const hal::Device& device, std::string_view kind) {
  const std::string_view name = device.name();
  if (!name.starts_with(kind)) return false;
  return kind.empty() || name.size() == kind.size() || std::string_view("-:?").find(name[kind.size()]) != kind.npos;
}

std::optional<size_t> find(std::span<const Ref<hal::Device>> devices, const Choice& choice) {
  size_t before = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (is_of_kind(*devices[i], choice.kind) && before++ == choice.ordinal) return i;
  }
  return std::nullopt;
}

Status not_found(std::span<const Ref<hal::Device>> devices, std::string_view name, std::string_view choices) {
  std::string given;
  for (const Ref<hal::Device>& device : devices) given += text(given.empty() ? "" : ", ", device->name());
  return failure(StatusCode::kNotFound, "The program's device @", name, " is ", choices,
                 "; the devices given are: ", given.empty() ? "none" : given, ".");
}

}  // namespace

Result<size_t> choose_device(std::span<const Ref<hal::Device>> devices, std::string_view name,
                             std::string_view choices) {
  for (std::string_view rest = choices; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const std::optional<Choice> choice = parse(one);
    if (!choice) {
      return failure(StatusCode::kInvalidArgument, "The program's device @", name, " is \"", one,
                     "\", which is no kind of device with a number, as in cuda[1].");
    }
    if (const std::optional<size_t> found = find(devices, *choice)) return *found;
  }
  return not_found(devices, name, choices);
}

}  // namespace baton::modules
