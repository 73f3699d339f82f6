#include "bytecode/assembler_parser.hpp"

#include <bit>
#include <charconv>
#include <limits>

namespace baton::bytecode::assembler {
namespace {

// An integer as it is written: sign and magnitude.
struct Integer {
  bool negative;
  uint64_t magnitude;
};

std::optional<Integer> parse_integer(std::string_view digits) {
  Integer integer{digits.starts_with('-'), 0};
  if (integer.negative) digits.remove_prefix(1);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, integer.magnitude, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return integer;
}

// The bits of an integer between the limits, or nothing.
std::optional<uint64_t> fit(Integer integer, int64_t minimum, uint64_t maximum) {
  if (!integer.negative || integer.magnitude == 0) {
    if (integer.magnitude > maximum) return std::nullopt;
    return integer.magnitude;
  }
  const uint64_t lowest = uint64_t{0} - static_cast<uint64_t>(minimum);  // magnitude of the minimum
  if (minimum >= 0 || integer.magnitude > lowest) return std::nullopt;
  return uint64_t{0} - integer.magnitude;
}

// The bits of a float: decimal, rounded to the nearest; inf, -inf, nan; or 0x and the bits themselves.
template <typename Float, typename Bits>
std::optional<uint64_t> parse_float(std::string_view digits) {
  if (digits.starts_with("0x")) {
    const std::optional<Integer> bits = parse_integer(digits);
    return bits ? fit(*bits, 0, std::numeric_limits<Bits>::max()) : std::nullopt;
  }
  if (digits == "nan") return std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
  Float value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || value != value) return std::nullopt;
  return std::bit_cast<Bits>(value);
}

std::optional<uint64_t> parse_number(ValueType type, std::string_view digits) {
  if (type == ValueType::kF32) return parse_float<float, uint32_t>(digits);
  if (type == ValueType::kF64) return parse_float<double, uint64_t>(digits);
  const std::optional<Integer> integer = parse_integer(digits);
  if (!integer) return std::nullopt;
  if (type == ValueType::kI64) return fit(*integer, std::numeric_limits<int64_t>::min(), UINT64_MAX);
  const std::optional<uint64_t> bits = fit(*integer, std::numeric_limits<int32_t>::min(), UINT32_MAX);
  return bits ? std::optional<uint64_t>(static_cast<uint32_t>(*bits)) : std::nullopt;
}

}  // namespace

std::string shown(const Token& token) {
  if (token.kind == TokenKind::kNewline) return "the end of the line";
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  return token.kind == TokenKind::kString ? std::string(token.spelling) : text("'", token.spelling, "'");
}

const Token& Cursor::next() {
  const Token& token = tokens_[at_];
  if (token.kind != TokenKind::kEnd) ++at_;
  return token;
}

bool Cursor::accept(std::string_view word) {
  if (!peek().is(word)) return false;
  next();
  return true;
}

bool Cursor::expect(std::string_view word) {
  if (accept(word)) return true;
  error(peek(), "Expected '", word, "', not ", shown(peek()), ".");
  return false;
}

std::string Cursor::ending(std::string_view name, std::span<const std::string_view> candidates) const {
  constexpr size_t kNameMax = 64;  // Distances cost the product of the lengths; longer names are not typing errors.
  const bool is_worth_it = name.size() <= kNameMax && diagnostics_.suggests();
  const std::string nearest = is_worth_it ? nearest_names(name, candidates) : std::string();
  return nearest.empty() ? "." : text("; ", nearest);
}

bool Cursor::expect_statement_end(bool brace_ends) {
  if (peek().kind == TokenKind::kNewline || at_end() || (brace_ends && peek().is("}"))) return true;
  error(peek(), "Expected the end of the line, not ", shown(peek()), ".");
  return false;
}

void Cursor::skip_statement() {
  while (!at_statement_end()) next();
}

void Cursor::skip_newlines() {
  while (peek().kind == TokenKind::kNewline) next();
}

const Token* Cursor::take(TokenKind kind, std::string_view what) {
  if (peek().kind == kind) return &next();
  error(peek(), "Expected ", what, ", not ", shown(peek()), ".");
  return nullptr;
}

std::optional<std::string> Cursor::take_string(std::string_view what) {
  const Token* token = take(TokenKind::kString, what);
  if (!token) return std::nullopt;
  return string_value(*token);
}

bool Cursor::move_to_string() {
  size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::kNewline) ++ahead;
  if (peek(ahead).kind != TokenKind::kString) return false;
  at_ += ahead;
  return true;
}

std::optional<std::string> Cursor::take_strings(std::string_view what) {
  if (!move_to_string()) return take_string(what);  // which says why not
  std::string value;
  do value += string_value(next());
  while (move_to_string());
  return value;
}

std::optional<uint64_t> Cursor::take_integer(int64_t minimum, uint64_t maximum, std::string_view what,
                                             std::string_view advice) {
  const Token* token = take(TokenKind::kNumber, what);
  if (!token) return std::nullopt;
  const std::optional<Integer> integer = parse_integer(token->spelling);
  if (!integer) {
    error(*token, shown(*token), " is not an integer.");
    return std::nullopt;
  }
  const std::optional<uint64_t> bits = fit(*integer, minimum, maximum);
  if (!bits) {
    error(*token, shown(*token), " does not fit ", what, " (", minimum, " to ", maximum, ")", advice, ".");
  }
  return bits;
}

std::optional<uint64_t> Cursor::take_number(ValueType type) {
  const Token& token = peek();
  const bool is_named = token.is("nan") || token.is("inf");
  if (!is_named && token.kind != TokenKind::kNumber) {
    error(token, "Expected an ", value_type_name(type), " number, not ", shown(token), ".");
    return std::nullopt;
  }
  const std::optional<uint64_t> bits = parse_number(type, token.spelling);
  if (!bits) {
    error(token, shown(token), " is not an ", value_type_name(type), ", or out of its range.");
    return std::nullopt;
  }
  next();
  return bits;
}

void Names::declare(const Token& token, Cursor& cursor) {
  const auto [entry, is_new] = entries_.emplace(symbol_value(token), Entry{count_++, token.line});
  if (!is_new) cursor.error(token, "Line ", entry->second.line, " declares the ", kind_, " ", token.spelling, " too.");
}

std::optional<uint32_t> Names::find(const Token& token, Cursor& cursor) const {
  const Symbol symbol = symbol_value(token);
  if (const auto found = entries_.find(symbol); found != entries_.end()) return found->second.index;
  std::vector<std::string_view> names;
  for (const auto& [candidate, entry] : entries_) names.push_back(candidate.name);
  cursor.error(token, "No ", kind_, " is called ", token.spelling, cursor.ending(symbol.name, names));
  return std::nullopt;
}

}  // namespace baton::bytecode::assembler
