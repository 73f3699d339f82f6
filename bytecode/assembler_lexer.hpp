// Text → tokens, and the sentences about what is wrong with it. The first step of the assembler.
//
// Tokens point into the text, which must outlive them. A line's end is a token: statements end there. What cannot be a
// token is reported and left out, so that the parser may go on and find more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace baton::bytecode::assembler {

enum class TokenKind : uint8_t {
  kEnd,  // of the text
  kNewline,
  kWord,         // add.i32, export, custom.string
  kSymbol,       // @name, @"any text", @name#2 (the third thing of that name)
  kRegister,     // %v0, %r3, %argument
  kNumber,       // 12, -3, 0xff, 1.5e-3, -inf
  kString,       // "text with \n \x00 \" escapes"
  kPunctuation,  // one of ( ) [ ] { } , : = -> ...
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view spelling;
  uint32_t line = 1;
  uint32_t column = 1;

  bool is(std::string_view text) const {
    return (kind == TokenKind::kWord || kind == TokenKind::kPunctuation) && spelling == text;
  }
};

// Collects what is wrong, and says it in the order of the text: "file:line:column: sentence" lines, at most kErrorsMax.
class Diagnostics {
 public:
  explicit Diagnostics(std::string_view file_name) : file_name_(file_name) {}

  template <typename... Parts>
  void error(const Token& at, const Parts&... sentence) {
    errors_.push_back({at.line, at.column, text(sentence...)});
  }
  bool any() const { return !errors_.empty(); }
  // Whether to look for what may have been meant: that costs more than reading the text, and people start at the top.
  bool suggests() const { return errors_.size() < kSuggestionsMax; }
  Status status() const;  // ok when there are none

 private:
  struct Error {
    uint32_t line;
    uint32_t column;
    std::string sentence;
  };
  static constexpr size_t kErrorsMax = 100;
  static constexpr size_t kSuggestionsMax = 10;
  std::string_view file_name_;
  std::vector<Error> errors_;
};

// The tokens of the text; the last is kEnd.
std::vector<Token> tokenize(std::string_view text, Diagnostics& diagnostics);

// The bytes that a kString token stands for.
std::string string_value(const Token& token);

// What a kSymbol token names. `occurrence` tells things of one name apart and is no part of the name.
struct Symbol {
  std::string name;
  uint32_t occurrence = 0;

  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};
Symbol symbol_value(const Token& token);

// Whether the text can be written as a word or a symbol without quotes.
bool is_plain_name(std::string_view name);

// The text in quotes, with escapes for what is not printable ASCII. The inverse of string_value().
std::string quoted(std::string_view value);

// "invalid_argument": how the text spells a status code.
std::string status_code_word(StatusCode code);

}  // namespace baton::bytecode::assembler
