// Messages from pieces: text("needs ", 2, " words, has ", count).
//
// libfmt would do this too, but it alone weighs more than the whole VM may (80 KB stripped, bench/vm/size), so the
// rooms that are linked into a user's app use this thin joiner and libfmt stays in the tools.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace baton {

// A number in hexadecimal: text("at ", hex(offset)) gives "at 0x40".
struct hex {
  uint64_t value;
  explicit hex(uint64_t number) : value(number) {}
};

// One piece, borrowed. Messages are off every fast path and there are hundreds of them, so what counts is how few bytes
// it takes to ask for one: the caller stores its pieces, two words each, and one function out of line joins them.
class TextPiece {
 public:
  TextPiece(std::string_view text)
      : text_(text.data()), kind_(Kind::kText), size_(static_cast<uint32_t>(text.size())) {}
  TextPiece(const std::string& text) : TextPiece(std::string_view(text)) {}
  TextPiece(const char* text) : text_(text), kind_(Kind::kZeroEnded) {}
  TextPiece(char letter) : number_(static_cast<unsigned char>(letter)), kind_(Kind::kLetter) {}
  TextPiece(std::unsigned_integral auto number) : number_(number), kind_(Kind::kUnsigned) {}
  TextPiece(std::signed_integral auto number)
      : number_(static_cast<uint64_t>(static_cast<int64_t>(number))), kind_(Kind::kSigned) {}
  TextPiece(hex number) : number_(number.value), kind_(Kind::kHex) {}
  TextPiece(double number) : real_(number), kind_(Kind::kReal) {}

  void append_to(std::string& target) const;

 private:
  enum class Kind : uint32_t { kText, kZeroEnded, kLetter, kUnsigned, kSigned, kHex, kReal };

  union {
    const char* text_;
    uint64_t number_;
    double real_;  // Shortest text that reads back to the same value.
  };
  Kind kind_;
  uint32_t size_ = 0;  // of kText; no message is 4 GiB long
};

std::string join_text(std::span<const TextPiece> pieces);

// Always inline, so that there is not one of it for every list of types.
template <typename... Parts>
[[gnu::always_inline]] inline std::string text(const Parts&... parts) {
  const TextPiece pieces[] = {parts...};
  return join_text(pieces);
}

inline void append_text(std::string& target, const TextPiece& piece) { piece.append_to(target); }

// The candidates most like `name` (edit distance), best first, at most three: "did you mean 'sum' or 'sub'?" for
// messages; empty text when nothing is near.
std::string nearest_names(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace baton
