#include "compiler-lite/lower/later_text.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

namespace baton::compiler_lite::lower {

using llvm::StringRef;

namespace {

constexpr StringRef kProducts[] = {"linalg.matmul", "linalg.batch_matmul", "linalg.batch_reduce_matmul"};
constexpr StringRef kNames[] = {"linalg.pack", "linalg.unpack", "linalg.elementwise", "#stream.parameter.named"};
constexpr StringRef kUnknownFloats[] = {"f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", "f8E3M4"};

// What MLIR would call unknown, and what does instead.
struct Unread {
  StringRef word, instead;
};
constexpr Unread kUnread[] = {
    {"#iree_codegen.compilation_info", "Baton chooses tiles itself; leave it out"},
    {"#iree_codegen.lowering_config", "Baton chooses tiles itself; leave it out"},
    {"#iree_codegen.translation_info", "Baton chooses tiles itself; leave it out"},
};

// How many elements the tensor of bits has whose constant's text ends here; of other types nothing.
std::optional<uint64_t> count_of_bits(StringRef behind) {
  for (const StringRef next : {">", ":"}) {
    behind = behind.ltrim();
    if (!behind.consume_front(next)) return std::nullopt;
  }
  behind = behind.ltrim();
  if (!behind.consume_front("tensor<") && !behind.consume_front("vector<")) return std::nullopt;
  uint64_t count = 1, size = 0;
  while (!behind.consumeInteger(10, size) && behind.consume_front("x")) count *= size;
  return behind.starts_with("i1>") ? std::optional(count) : std::nullopt;
}

constexpr StringRef kHexadecimal = "dense<\"0x";

// A constant of bits that has a byte for each of them: whether there is one in the text.
bool has_bytes_for_bits(StringRef source) {
  for (size_t at = source.find(kHexadecimal); at != StringRef::npos; at = source.find(kHexadecimal, at)) {
    at += kHexadecimal.size();
    const size_t end = std::min(source.find('"', at), source.size());
    const std::optional<uint64_t> count = count_of_bits(source.drop_front(end).drop_front(end < source.size()));
    if (count && *count > 1 && end - at == 2 * *count) return true;
  }
  return false;
}

// Walks over the text word by word; strings and comments are none.
class Rewriter {
 public:
  Rewriter(StringRef source, StringRef name) : rest_(source), name_(name) {}
  EarlierText rewrite() {
    earlier_.text.reserve(rest_.size());
    while (!rest_.empty() && earlier_.diagnostics.empty()) {
      if (rest_.starts_with("//")) {
        keep(rest_.find('\n'));
      } else if (rest_.front() == '"') {
        string(std::min(end_of_string(), rest_.size()));
      } else if (is_part_of_word(rest_.front())) {
        word(rest_.take_while(is_part_of_word));
      } else {
        keep(1);
      }
    }
    return std::move(earlier_);
  }

 private:
  static bool is_part_of_word(char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '%' || c == '#' || c == '@' || c == '!';
  }
  size_t end_of_string() const {
    size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    return end + 1;
  }
  void string(size_t size) {
    StringRef digits = rest_.take_front(size);
    const std::optional<uint64_t> count = count_of_bits(rest_.drop_front(size));
    if (StringRef(earlier_.text).ends_with("dense<") && digits.consume_front("\"0x") && digits.consume_back("\"") &&
        count && *count > 1 && digits.size() == 2 * *count) {
      return bits(digits, size);
    }
    keep(size);
  }
  // Eight to a byte, the first one lowest. Later versions have a byte for each.
  void bits(StringRef digits, size_t size) {
    std::string bytes;
    for (; !digits.empty(); digits = digits.drop_front(std::min<size_t>(16, digits.size()))) {
      unsigned byte = 0;
      for (size_t i = 0; i < 8 && 2 * i < digits.size(); ++i) {
        if (digits.substr(2 * i, 2) != "00") byte |= 1U << i;
      }
      bytes += static_cast<char>(byte);
    }
    earlier_.text += "\"0x" + llvm::toHex(bytes) + "\"";
    rest_ = rest_.drop_front(size);
  }
  void keep(size_t count) {
    earlier_.text += rest_.take_front(count);
    rest_ = rest_.substr(std::min(count, rest_.size()));
  }
  void replace(StringRef what, StringRef with) {
    earlier_.text += with;
    rest_ = rest_.drop_front(what.size());
  }
  void word(StringRef word) {
    if (word == "linalg.pack") return replace(word, "tensor.pack");
    if (word == "linalg.unpack") return replace(word, "tensor.unpack");
    if (word == "#stream.parameter.named") return replace(word, "#flow.parameter.named");
    if (llvm::is_contained(kProducts, word) && rest_.drop_front(word.size()).ltrim().starts_with("indexing_maps")) {
      return replace(word, "linalg.contract");
    }
    if (word == "linalg.elementwise") return elementwise(word);
    if (llvm::is_contained(kUnknownFloats, type_of(word))) return refuse_float(word);
    for (const Unread& unread : kUnread) {
      if (word == unread.word) return refuse(word + " is not read: " + unread.instead);
    }
    keep(word.size());
  }
  // `kind=#linalg.elementwise_kind<exp>` is `<exp>`.
  void elementwise(StringRef word) {
    keep(word.size());
    StringRef kind = rest_.ltrim(" ");
    if (!kind.consume_front("kind")) return;
    kind = kind.ltrim(" ");
    if (!kind.consume_front("=")) return;
    kind = kind.ltrim(" ");
    if (!kind.consume_front("#linalg.elementwise_kind")) return;
    earlier_.text += " ";
    rest_ = kind;
  }
  // The type in a word: what follows the sizes, or the whole word.
  static StringRef type_of(StringRef word) {
    const size_t sizes = word.rfind('x');
    return sizes == StringRef::npos ? word : word.drop_front(sizes + 1);
  }
  void refuse_float(StringRef word) {
    refuse("floats of the type " + type_of(word) +
           " are not lowered: of floats below 16 bits there are f8E5M2, f8E4M3, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ and "
           "f8E4M3B11FNUZ; others go as integers of their size, which the program converts");
  }
  void refuse(const llvm::Twine& why) {
    const StringRef before(earlier_.text);
    const size_t line_begin = before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1;
    const size_t line = before.count('\n') + 1, column = before.size() - line_begin + 1;
    earlier_.diagnostics =
        (name_ + ":" + llvm::Twine(line) + ":" + llvm::Twine(column) + ": error: " + why + ".\n").str();
  }

  StringRef rest_, name_;
  EarlierText earlier_;
};

}  // namespace

std::optional<EarlierText> earlier_text(StringRef source, StringRef name) {
  const auto is_in = [&](StringRef word) { return source.contains(word); };
  const bool may_have_maps = is_in("indexing_maps") && llvm::any_of(kProducts, is_in);
  const bool has_unread = llvm::any_of(kUnread, [&](const Unread& unread) { return is_in(unread.word); });
  if (!may_have_maps && !has_unread && llvm::none_of(kNames, is_in) && llvm::none_of(kUnknownFloats, is_in) &&
      !has_bytes_for_bits(source)) {
    return std::nullopt;
  }
  return Rewriter(source, name).rewrite();
}

}  // namespace baton::compiler_lite::lower
