#include "bytecode/assembler_lexer.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace baton::bytecode::assembler {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_rest(char c) { return is_name_start(c) || is_digit(c) || c == '.' || c == '$'; }

constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The escapes of one letter, and what they stand for.
constexpr std::string_view kEscapes = "ntr0\\\"";
constexpr std::string_view kEscaped("\n\t\r\0\\\"", 6);

class Lexer {
 public:
  Lexer(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    while (true) {
      skip_blanks();
      begin_ = at_;
      if (at_ == text_.size()) break;
      token();
    }
    add(TokenKind::kNewline);  // The last line may lack its end.
    add(TokenKind::kEnd);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Token here(TokenKind kind) const {
    return {kind, text_.substr(begin_, at_ - begin_), line_, static_cast<uint32_t>(begin_ - line_begin_ + 1)};
  }
  void add(TokenKind kind) { tokens_.push_back(here(kind)); }

  template <typename... Parts>
  void error(const Parts&... sentence) {
    diagnostics_.error(here(TokenKind::kWord), sentence...);
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
    if (peek() != ';') return;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void token() {
    const char c = peek();
    if (c == '\n') return newline();
    if (is_name_start(c)) return name(TokenKind::kWord);
    if (c == '@') return symbol();
    if (c == '%') return register_name();
    if (is_digit(c) || (c == '-' && (is_digit(peek(1)) || is_name_start(peek(1)) || peek(1) == '.'))) return number();
    if (c == '"') {
      if (string()) add(TokenKind::kString);
      return;
    }
    punctuation();
  }

  void newline() {
    ++at_;
    add(TokenKind::kNewline);
    ++line_;
    line_begin_ = at_;
  }

  void name(TokenKind kind) {
    while (is_name_rest(peek())) ++at_;
    // A segment's dots belong to the type before them only when it is a plain name: `ref...` is `ref` and `...`.
    if (text_.substr(begin_, at_ - begin_).ends_with("...")) at_ -= 3;
    add(kind);
  }

  void symbol() {
    ++at_;
    const bool is_quoted = peek() == '"';
    if (is_quoted && !string()) return;
    if (!is_quoted && !is_name_start(peek())) return error("A symbol is '@' and a name.");
    while (!is_quoted && is_name_rest(peek())) ++at_;
    if (peek() == '#' && is_digit(peek(1))) {
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    add(TokenKind::kSymbol);
  }

  void register_name() {
    ++at_;
    if (!is_name_start(peek())) return error("A register is '%' and a name: %v0, %r0 or an argument's.");
    while (is_name_rest(peek())) ++at_;
    add(TokenKind::kRegister);
  }

  // Takes all that could belong to a number; whether it is one is for those who want it.
  void number() {
    ++at_;
    const bool is_hex = text_.substr(begin_, at_ - begin_ + 1).ends_with("0x") || (peek() == '0' && peek(1) == 'x');
    while (is_name_rest(peek()) || (!is_hex && (peek() == '+' || peek() == '-') && is_exponent(text_[at_ - 1]))) ++at_;
    add(TokenKind::kNumber);
  }
  static constexpr bool is_exponent(char c) { return c == 'e' || c == 'E'; }

  // Moves past the string that begins here; false after an error.
  bool string() {
    ++at_;
    bool good = true;
    for (; at_ < text_.size() && peek() != '"' && peek() != '\n'; ++at_) {
      if (peek() == '\\' && !escape()) good = false;
    }
    if (peek() != '"') {
      error("The string does not end on this line.");
      return false;
    }
    ++at_;
    return good;
  }

  // Moves to the last letter of the escape that begins here.
  bool escape() {
    if (peek(1) == 'x' && hex_digit(peek(2)) >= 0 && hex_digit(peek(3)) >= 0) {
      at_ += 3;
      return true;
    }
    if (peek(1) != '\0' && kEscapes.find(peek(1)) != kEscapes.npos) {
      ++at_;
      return true;
    }
    error("The string has an unknown escape; known are \\n \\t \\r \\0 \\\\ \\\" and \\xNN.");
    return false;
  }

  void punctuation() {
    constexpr std::string_view marks[] = {"->", "...", "(", ")", "[", "]", "{", "}", ",", ":", "="};
    for (std::string_view mark : marks) {
      if (text_.substr(at_).starts_with(mark)) {
        at_ += mark.size();
        return add(TokenKind::kPunctuation);
      }
    }
    ++at_;
    error("Nothing begins with ", quoted(text_.substr(begin_, 1)), ".");
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the token being read
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Status Diagnostics::status() const {
  if (errors_.empty()) return {};
  std::vector<const Error*> ordered;
  for (const Error& error : errors_) ordered.push_back(&error);
  std::sort(ordered.begin(), ordered.end(), [](const Error* a, const Error* b) {
    return std::tuple(a->line, a->column, a) < std::tuple(b->line, b->column, b);
  });
  std::string lines;
  for (size_t i = 0; i < std::min(ordered.size(), kErrorsMax); ++i) {
    const Error& error = *ordered[i];
    lines += text(i == 0 ? "" : "\n", file_name_, ":", error.line, ":", error.column, ": ", error.sentence);
  }
  if (ordered.size() > kErrorsMax) lines += text("\n", file_name_, ": ", ordered.size() - kErrorsMax, " more errors.");
  return Status(StatusCode::kInvalidArgument, std::move(lines));
}

std::vector<Token> tokenize(std::string_view text, Diagnostics& diagnostics) { return Lexer(text, diagnostics).run(); }

std::string string_value(const Token& token) {
  const std::string_view body = token.spelling.substr(1, token.spelling.size() - 2);
  std::string value;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      value += body[i];
    } else if (body[++i] == 'x') {
      value += static_cast<char>(hex_digit(body[i + 1]) * 16 + hex_digit(body[i + 2]));
      i += 2;
    } else {
      value += kEscaped[kEscapes.find(body[i])];
    }
  }
  return value;
}

Symbol symbol_value(const Token& token) {
  std::string_view name = token.spelling.substr(1);
  const bool is_quoted = name.starts_with('"');
  const size_t end = is_quoted ? name.rfind('"') + 1 : std::min(name.find('#'), name.size());
  Symbol symbol;
  if (end < name.size()) std::from_chars(name.data() + end + 1, name.data() + name.size(), symbol.occurrence);
  name = name.substr(0, end);
  symbol.name = is_quoted ? string_value({TokenKind::kString, name}) : std::string(name);
  return symbol;
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || !is_name_start(name[0]) || name.ends_with("...")) return false;
  for (char c : name) {
    if (!is_name_rest(c)) return false;
  }
  return true;
}

std::string quoted(std::string_view value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t escape = kEscaped.find(c); escape != kEscaped.npos) {
      result += {'\\', kEscapes[escape]};
    } else if (byte < 0x20 || byte >= 0x7f) {
      result += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string status_code_word(StatusCode code) {
  std::string word(status_code_name(code));
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return word;
}

}  // namespace baton::bytecode::assembler
