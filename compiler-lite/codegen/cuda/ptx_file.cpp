#include "compiler-lite/codegen/cuda/ptx_file.hpp"

#include "llvm/ADT/StringExtras.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

using llvm::StringRef;

// Comments become spaces; strings stay.
std::string without_comments(StringRef text) {
  std::string clean;
  for (size_t i = 0; i < text.size();) {
    const StringRef rest = text.drop_front(i);
    size_t end = 1;
    if (rest.starts_with("//")) {
      end = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const size_t close = rest.find("*/", 2);
      end = close == StringRef::npos ? rest.size() : close + 2;
    } else {
      if (rest.front() == '"') end = std::min(rest.find('"', 1), rest.size() - 1) + 1;
      clean += rest.take_front(end);
      i += end;
      continue;
    }
    clean += ' ';
    i += end;
  }
  return clean;
}

// The first word of `text`, which loses it.
StringRef take_word(StringRef& text) {
  text = text.ltrim();
  size_t end = !text.empty() && text.front() == '.' ? 1 : 0;
  while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_' || text[end] == '$')) ++end;
  const StringRef word = text.take_front(end);
  text = text.drop_front(end);
  return word;
}

// Lines of code that belong to debug information.
std::string without_lines(StringRef body) {
  std::string kept;
  while (!body.empty()) {
    const auto [line, rest] = body.split('\n');
    StringRef words = line;
    if (take_word(words) != ".loc") kept += line.str() + (rest.empty() ? "" : "\n");
    body = rest;
  }
  return kept;
}

// Takes the text in parentheses off the beginning of `text`.
StringRef take_parentheses(StringRef& text) {
  text = text.ltrim();
  if (!text.consume_front("(")) return {};
  const size_t end = std::min(text.find(')'), text.size());
  const StringRef inside = text.take_front(end);
  text = text.drop_front(std::min(end + 1, text.size()));
  return inside;
}

// ".b64" of ".param .align 8 .b8 name[8]" is ".b8[8]"; types of one size are one, and alignment isn't compared.
std::string type_of(StringRef parameter) {
  std::string type;
  for (StringRef rest = parameter; !(rest = rest.ltrim()).empty();) {
    const StringRef word = take_word(rest);
    if (word.empty()) {
      if (rest.front() == '[') type += rest.take_until([](char c) { return c == ']'; }).str() + "]";
      rest = rest.drop_front();
      continue;
    }
    const bool is_type = word.size() >= 3 && StringRef("busf").contains(word[1]) && llvm::isDigit(word[2]);
    if (word.front() == '.' && is_type && type.empty()) type = ".b" + word.drop_front(2).str();
  }
  return type;
}

std::string types_of(StringRef list) {
  llvm::SmallVector<StringRef> parameters;
  list.split(parameters, ',', -1, /*KeepEmpty=*/false);
  std::string text;
  for (const StringRef each : parameters) {
    if (!each.trim().empty()) text += (text.empty() ? "" : ", ") + type_of(each);
  }
  return "(" + text + ")";
}

// One file's text, statement by statement.
class Reader {
 public:
  Reader(PtxFile& file, StringRef text) : file_(file), rest_(text) {}

  std::string run() {
    while (!(rest_ = rest_.ltrim()).empty()) {
      std::string problem = statement();
      if (!problem.empty()) return problem;
    }
    if (file_.version.empty() || file_.target.empty()) return "says no version and target";
    return {};
  }

 private:
  std::string statement() {
    StringRef after = rest_;
    const StringRef word = take_word(after);
    if (word == ".version") return line(file_.version);
    if (word == ".target") return line(file_.target);
    if (word == ".address_size") {
      std::string size;
      line(size);
      return size == "64" ? "" : "has addresses of " + size + " bits; code for kernels has 64";
    }
    if (word == ".file") {
      std::string ignored;
      return line(ignored);
    }
    if (word == ".section") return skip_section();
    if (word == ".pragma") return skip_to_semicolon();
    if (word == ".alias") return "has an .alias, which can't be merged with other code";
    return definition();
  }

  // The first word behind the directive; the line ends it.
  std::string line(std::string& value) {
    const auto [text, rest] = rest_.split('\n');
    StringRef words = text;
    take_word(words);
    words = words.trim();
    value = words.take_until([](char c) { return c == ',' || c == ' ' || c == '\t'; }).str();
    rest_ = rest;
    return {};
  }

  std::string skip_section() {
    const size_t open = rest_.find('{');
    return open == StringRef::npos ? kCutOff.str() : skip_past(close_of(open));
  }
  std::string skip_to_semicolon() { return skip_past(rest_.find(';')); }
  std::string skip_past(size_t end) {
    if (end == StringRef::npos) return kCutOff.str();
    rest_ = rest_.drop_front(end + 1);
    return {};
  }

  // Where the braces end that begin at `open`.
  size_t close_of(size_t open) const {
    size_t depth = 0;
    for (size_t i = open; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        i = rest_.find('"', i + 1);
        if (i == StringRef::npos) return i;
      }
      if (rest_[i] == '{') ++depth;
      if (rest_[i] == '}' && --depth == 0) return i;
    }
    return StringRef::npos;
  }

  std::string definition() {
    PtxStatement made{};
    made.linkage = linkage();
    StringRef after = rest_;
    const StringRef word = take_word(after);
    if (word == ".func" || word == ".entry") return function(made, after, word == ".entry");
    for (const char* space : {".global", ".const", ".shared", ".tex"}) {
      if (word == space) return variable(made);
    }
    return "has something at '" + rest_.take_front(24).split('\n').first.str() + "' that is not known here";
  }

  PtxLinkage linkage() {
    StringRef after = rest_;
    const StringRef word = take_word(after);
    PtxLinkage linkage = PtxLinkage::kInternal;
    if (word == ".visible") linkage = PtxLinkage::kVisible;
    if (word == ".weak" || word == ".common") linkage = PtxLinkage::kWeak;
    if (word == ".extern") linkage = PtxLinkage::kExtern;
    if (linkage != PtxLinkage::kInternal) rest_ = after.ltrim();
    return linkage;
  }

  std::string function(PtxStatement& made, StringRef after, bool is_kernel) {
    made.kind = is_kernel ? PtxStatement::Kind::kKernel : PtxStatement::Kind::kFunction;
    made.results = types_of(take_parentheses(after));
    made.name = take_word(after).str();
    made.parameters = types_of(take_parentheses(after));
    const size_t end = rest_.find_first_of("{;");
    if (end == StringRef::npos) return kCutOff.str();
    if (made.name.empty()) return "has a function without a name";
    made.head = rest_.take_front(end).rtrim().str();
    made.has_body = rest_[end] == '{';
    const size_t close = made.has_body ? close_of(end) : end;
    if (close == StringRef::npos) return kCutOff.str();
    if (made.has_body) made.body = without_lines(rest_.slice(end, close + 1));
    file_.statements.push_back(std::move(made));
    return skip_past(close);
  }

  std::string variable(PtxStatement& made) {
    made.kind = PtxStatement::Kind::kVariable;
    const size_t end = rest_.find(';');
    if (end == StringRef::npos) return kCutOff.str();
    made.head = rest_.take_front(end).rtrim().str();
    // The last word before a size or a value.
    const StringRef before = StringRef(made.head).take_until([](char c) { return c == '[' || c == '='; }).rtrim();
    made.name = before.substr(before.find_last_of(" \t\n.") + 1).str();
    if (made.name.empty()) return "has a variable without a name";
    file_.statements.push_back(std::move(made));
    return skip_past(end);
  }

  static constexpr llvm::StringLiteral kCutOff{"is cut off in a statement"};
  PtxFile& file_;
  StringRef rest_;
};

}  // namespace

std::string PtxFile::read(StringRef text) {
  const std::string clean = without_comments(text.take_until([](char c) { return c == '\0'; }));
  return Reader(*this, clean).run();
}

bool is_ptx(StringRef text) {
  const std::string clean = without_comments(text.take_front(16384));
  return StringRef(clean).ltrim().starts_with(".version");
}

}  // namespace baton::compiler_lite::codegen::cuda
