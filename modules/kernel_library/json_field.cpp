#include "modules/kernel_library/json_field.hpp"

namespace baton::modules {
namespace {

constexpr size_t kDepthMax = 64;

Status no_json(size_t at) {
  return failure(StatusCode::kInvalidArgument, "The metadata is no JSON object: at byte ", at,
                 " it ends or goes on as none.");
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  bool take(char letter) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  // With its quotes; what is escaped stays so.
  std::optional<std::string_view> string() {
    skip_blanks();
    const size_t begin = at_;
    if (!take('"')) return std::nullopt;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // Any value: of objects and lists only where they end is looked at.
  std::optional<std::string_view> value() {
    skip_blanks();
    const size_t begin = at_;
    size_t depth = 0;
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == '"') {
        if (!string()) return std::nullopt;
        if (depth == 0) return text_.substr(begin, at_ - begin);
        continue;
      }
      if (letter == '{' || letter == '[') {
        if (++depth > kDepthMax) return std::nullopt;
      } else if (letter == '}' || letter == ']') {
        if (depth == 0) break;
        if (--depth == 0) return text_.substr(begin, ++at_ - begin);
      } else if (depth == 0 && (letter == ',' || letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t')) {
        break;
      }
      ++at_;
    }
    if (depth != 0 || at_ == begin) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::optional<std::string_view>> json_field(std::string_view object, std::string_view key) {
  Scanner scanner(object);
  if (!scanner.take('{')) return no_json(scanner.at());
  if (scanner.take('}')) return std::optional<std::string_view>();
  while (true) {
    const auto name = scanner.string();
    if (!name || !scanner.take(':')) return no_json(scanner.at());
    const auto value = scanner.value();
    if (!value) return no_json(scanner.at());
    if (name->substr(1, name->size() - 2) == key) return value;
    if (scanner.take('}')) return std::optional<std::string_view>();
    if (!scanner.take(',')) return no_json(scanner.at());
  }
}

}  // namespace baton::modules
