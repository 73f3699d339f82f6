// Everything in a .bvmasm text but the code: declarations, and the types in them.
#include <algorithm>
#include <array>
#include <bit>

#include "bytecode/assembler_parser.hpp"

namespace baton::bytecode::assembler {
namespace {

bool take_types(Cursor& cursor, std::string& signature, FunctionType::Counts& counts);

std::string type_letters(const ReferenceOrValue& type) {
  std::string letters(1, value_type_letter(type.type));
  if (!type.ref_type.empty()) letters += text("<", type.ref_type, ">");
  return letters;
}

// Names the register that the next argument of this type arrives in.
bool name_argument(Cursor& cursor, const Token& name, ValueType type, FunctionType& function) {
  const uint32_t index = is_ref(type) ? function.arguments.refs : function.arguments.values;
  const std::string target = text(is_ref(type) ? "r" : "v", index);
  const std::string_view given = name.spelling.substr(1);
  const bool is_reserved = given.size() > 1 && (given[0] == 'v' || given[0] == 'r') &&
                           given.find_first_not_of("0123456789", 1) == given.npos;
  if (is_reserved && given != target) {
    cursor.error(name, "The argument ", shown(name), " arrives in %", target, "; a name like a register's misleads.");
    return false;
  }
  if (is_reserved || function.registers.emplace(given, target).second) return true;
  cursor.error(name, "Two arguments are called ", shown(name), ".");
  return false;
}

bool take_argument(Cursor& cursor, bool named, FunctionType& function) {
  if (cursor.accept("(")) {
    FunctionType::Counts& segment = function.segments.emplace_back();
    function.signature += 'C';
    if (!take_types(cursor, function.signature, segment)) return false;
    function.signature += 'D';
    return cursor.expect("...");
  }
  const Token* name = named && cursor.peek().kind == TokenKind::kRegister ? &cursor.next() : nullptr;
  if (name && !cursor.expect(":")) return false;
  const std::optional<ReferenceOrValue> type = take_type(cursor);
  if (!type || (name && !name_argument(cursor, *name, type->type, function))) return false;
  function.signature += type_letters(*type);
  function.arguments.add(type->type);
  return true;
}

// "i32, blob)" behind the opening parenthesis.
bool take_types(Cursor& cursor, std::string& signature, FunctionType::Counts& counts) {
  while (!cursor.accept(")")) {
    if (counts.values + counts.refs != 0 && !cursor.expect(",")) return false;
    const std::optional<ReferenceOrValue> type = take_type(cursor);
    if (!type) return false;
    signature += type_letters(*type);
    counts.add(type->type);
  }
  return true;
}

bool take_results(Cursor& cursor, FunctionType& function) {
  if (!cursor.accept("->")) return true;
  if (cursor.accept("(")) return take_types(cursor, function.signature, function.results);
  const std::optional<ReferenceOrValue> type = take_type(cursor);
  if (!type) return false;
  function.signature += type_letters(*type);
  function.results.add(type->type);
  return true;
}

// Reads one directive after the other into Declarations. A name is declared even when the rest of its line is wrong, so
// that what uses it isn't reported too.
class Directives {
 public:
  explicit Directives(Cursor& cursor) : cursor_(cursor) {}

  Declarations run() {
    for (cursor_.skip_newlines(); !cursor_.at_end(); cursor_.skip_newlines()) {
      if (!directive() || !cursor_.expect_statement_end(false)) recover();
    }
    if (!made_.has_module) cursor_.error(cursor_.peek(), "The text has no 'module' directive.");
    return std::move(made_);
  }

 private:
  bool directive() {
    const Token& word = cursor_.next();
    if (word.is("module")) return module(word);
    if (word.is("attribute")) return attribute();
    if (word.is("type")) return type();
    if (word.is("signature")) return signature();
    if (word.is("import")) return import();
    if (word.is("global")) return global();
    if (word.is("rodata")) return rodata();
    if (word.is("executable")) return executable();
    if (word.is("initializer")) return initializer(word);
    if (word.is("stripped")) return made_.stripped = true;
    if (word.is("export")) return exported_function();
    if (word.is("func")) return function({}, false);
    return unknown(word);
  }

  bool unknown(const Token& word) {
    constexpr std::string_view words[] = {"module", "attribute",  "type",   "signature",   "import",   "global",
                                          "rodata", "executable", "export", "initializer", "stripped", "func"};
    const std::string ending = cursor_.ending(word.spelling, words);
    cursor_.error(word, "No directive begins with ", shown(word), ending);
    return false;
  }

  // After an error: to the next line, or behind the body when the line opened one.
  void recover() {
    while (cursor_.peek().kind != TokenKind::kNewline && !cursor_.at_end()) {
      if (cursor_.accept("{")) return pass_body();
      cursor_.next();
    }
  }

  void pass_body() {
    while (!cursor_.at_end() && !cursor_.accept("}")) cursor_.next();
  }

  bool module(const Token& word) {
    if (made_.has_module) cursor_.error(word, "The text has a second 'module' directive.");
    made_.has_module = true;
    const Token* name = cursor_.take(TokenKind::kSymbol, "the module's @name");
    if (!name) return false;
    made_.name = symbol_value(*name).name;
    if (!cursor_.accept("version")) return true;
    const auto version = cursor_.take_u32("a version");
    made_.version = version.value_or(0);
    return version.has_value();
  }

  bool attribute() {
    std::optional<AttributeDeclaration> attribute = take_attribute(cursor_);
    if (attribute) made_.attributes.push_back(std::move(*attribute));
    return attribute.has_value();
  }

  bool type() {
    std::optional<std::string> name = take_ref_type(cursor_);
    if (name) made_.types.push_back(std::move(*name));
    return name.has_value();
  }

  bool signature() {
    std::optional<std::string> letters = cursor_.take_string("a signature in quotes");
    if (letters) made_.signatures.push_back(std::move(*letters));
    return letters.has_value();
  }

  bool import() {
    ImportDeclaration& made = made_.imports.emplace_back();
    made.import.optional = cursor_.accept("optional");
    const Token* name = cursor_.take(TokenKind::kSymbol, "the import's @module.function");
    if (!name) return false;
    made_.import_names.declare(*name, cursor_);
    made.import.name = symbol_value(*name).name;
    std::optional<FunctionType> type = take_function_type(cursor_, false);
    if (!type) return false;
    made.import.signature = type->signature;
    made.type = *std::move(type);
    if (cursor_.accept("version")) {
      const auto version = cursor_.take_u32("a version");
      if (!version) return false;
      made.import.minimum_version = *version;
    }
    if (cursor_.accept("fallback")) {
      made.fallback = cursor_.take(TokenKind::kSymbol, "the fallback's @function");
      if (!made.fallback) return false;
    }
    return true;
  }

  bool global() {
    ModuleBuilder::Global& made = made_.globals.emplace_back();
    made.is_mutable = !cursor_.accept("const");
    const Token* name = cursor_.take(TokenKind::kSymbol, "the global's @name");
    if (!name) return false;
    made_.global_names.declare(*name, cursor_);
    if (!cursor_.expect(":")) return false;
    std::optional<ReferenceOrValue> type = take_type(cursor_);
    if (!type) return false;
    made.name = symbol_value(*name).name;
    made.type = type->type;
    made.ref_type = std::move(type->ref_type);
    const Token& equals = cursor_.peek();
    if (cursor_.accept("=")) {
      if (is_ref(made.type)) {
        cursor_.error(equals, "A reference global begins null and takes no initial value.");
        return false;
      }
      const std::optional<uint64_t> bits = cursor_.take_number(made.type);
      if (!bits) return false;
      made.initial = *bits;
    }
    return true;
  }

  bool rodata() {
    const Token* name = cursor_.take(TokenKind::kSymbol, "the segment's @name");
    if (!name) return false;
    made_.rodata_names.declare(*name, cursor_);
    if (!cursor_.expect("=")) return false;
    std::optional<std::string> bytes = rodata_bytes();
    if (bytes) made_.rodata.push_back({symbol_value(*name).name, std::move(*bytes)});
    return bytes.has_value();
  }

  bool executable() {
    ExecutableDeclaration& made = made_.executables.emplace_back();
    const Token* name = cursor_.take(TokenKind::kSymbol, "the executable's @name");
    if (!name) return false;
    made_.executable_names.declare(*name, cursor_);
    made.row.name = symbol_value(*name).name;
    return take_executable(cursor_, made);
  }

  std::optional<std::string> rodata_bytes() {
    if (cursor_.move_to_string()) return cursor_.take_strings("text in quotes");
    if (cursor_.accept("hex")) return hex_bytes();
    constexpr std::pair<std::string_view, size_t> sizes[] = {{"i8", 1},  {"i16", 2}, {"i32", 4},
                                                             {"i64", 8}, {"f32", 4}, {"f64", 8}};
    for (const auto& [name, size] : sizes) {
      if (!cursor_.accept(name)) continue;
      const ValueType type = name == "f32" ? ValueType::kF32 : name == "f64" ? ValueType::kF64 : ValueType::kI64;
      return numbers(type, size);
    }
    cursor_.error(cursor_.peek(),
                  "Rodata is text in quotes, 'hex' and digits in quotes, or i8, i16, i32, i64, f32 or f64 "
                  "and numbers in brackets.");
    return std::nullopt;
  }

  std::optional<std::string> hex_bytes() {
    const Token& begin = cursor_.peek();
    const std::optional<std::string> digits = cursor_.take_strings("hexadecimal digits in quotes");
    if (!digits) return std::nullopt;
    std::string bytes;
    unsigned high = 0;
    size_t count = 0;
    for (char c : *digits) {
      const std::string_view alphabet = "0123456789abcdefABCDEF";
      if (c == ' ') continue;
      size_t digit = alphabet.find(c);
      if (digit == alphabet.npos) break;
      if (digit > 15) digit -= 6;
      if (count++ % 2 == 0)
        high = static_cast<unsigned>(digit);
      else
        bytes += static_cast<char>(high * 16 + digit);
    }
    const size_t blanks = static_cast<size_t>(std::count(digits->begin(), digits->end(), ' '));
    if (count % 2 == 0 && count + blanks == digits->size()) return bytes;
    cursor_.error(begin, "Bytes in hexadecimal are pairs of digits.");
    return std::nullopt;
  }

  // "[1, 2, -3]", on as many lines as you like.
  std::optional<std::string> numbers(ValueType type, size_t size) {
    if (!cursor_.expect("[")) return std::nullopt;
    std::string bytes;
    for (cursor_.skip_newlines(); !cursor_.accept("]"); cursor_.skip_newlines()) {
      if (!bytes.empty() && !cursor_.expect(",")) return std::nullopt;
      cursor_.skip_newlines();
      const std::optional<uint64_t> bits = number(type, size);
      if (!bits) return std::nullopt;
      const auto element = std::bit_cast<std::array<char, sizeof(uint64_t)>>(*bits);
      bytes.append(element.data(), size);
    }
    return bytes;
  }

  std::optional<uint64_t> number(ValueType type, size_t size) {
    if (type != ValueType::kI64) return cursor_.take_number(type);
    const uint64_t maximum = UINT64_MAX >> (64 - 8 * size);
    return cursor_.take_integer(static_cast<int64_t>(~(maximum >> 1)), maximum, text("an element of ", size, " bytes"));
  }

  bool initializer(const Token& word) {
    if (made_.initializer) cursor_.error(word, "The text has a second 'initializer' directive.");
    made_.initializer = cursor_.take(TokenKind::kSymbol, "the initializer's @function");
    return made_.initializer != nullptr;
  }

  // "export func @f", or "export("name", ...) func @f" when it is exported under other names.
  bool exported_function() {
    std::vector<std::string> names;
    const bool own_name = !cursor_.accept("(");
    if (!own_name) {
      do {
        std::optional<std::string> name = cursor_.take_string("the export's name in quotes");
        if (!name) return false;
        names.push_back(std::move(*name));
      } while (cursor_.accept(","));
      if (!cursor_.expect(")")) return false;
    }
    return cursor_.expect("func") && function(std::move(names), own_name);
  }

  bool function(std::vector<std::string> exports, bool export_own_name) {
    FunctionDeclaration& made = made_.functions.emplace_back();
    const Token* name = cursor_.take(TokenKind::kSymbol, "the function's @name");
    if (!name) return false;
    made_.function_names.declare(*name, cursor_);
    made.name = symbol_value(*name).name;
    made.exports = std::move(exports);
    if (export_own_name) made.exports.push_back(made.name);
    std::optional<FunctionType> type = take_function_type(cursor_, true);
    if (!type) return false;
    made.type = *std::move(type);
    if (!frame_size("values", made.values) || !frame_size("refs", made.refs) || !cursor_.expect("{")) return false;
    made.body = cursor_.position();
    pass_body();
    return true;
  }

  bool frame_size(std::string_view word, std::optional<uint16_t>& size) {
    if (!cursor_.accept(word)) return true;
    const auto number = cursor_.take_integer(0, UINT16_MAX, "a number of registers");
    if (number) size = static_cast<uint16_t>(*number);
    return number.has_value();
  }

  Cursor& cursor_;
  Declarations made_;
};

}  // namespace

std::optional<std::string> take_ref_type(Cursor& cursor) {
  const Token& token = cursor.peek();
  const bool is_string = token.kind == TokenKind::kString;
  std::string name = is_string ? string_value(token) : std::string(token.spelling);
  const bool is_word = token.kind == TokenKind::kWord && !value_type_from_name(name);
  if ((is_string || is_word) && is_type_name(name)) {
    cursor.next();
    return name;
  }
  cursor.error(token, "Expected a type's name, not ", shown(token), ".");
  return std::nullopt;
}

// i32 i64 f32 f64, ref for any reference, or the name of a reference type; in quotes when it is one of these words.
std::optional<ReferenceOrValue> take_type(Cursor& cursor) {
  if (cursor.peek().kind == TokenKind::kWord) {
    if (const std::optional<ValueType> type = value_type_from_name(cursor.peek().spelling)) {
      cursor.next();
      return ReferenceOrValue{*type, {}};
    }
  }
  std::optional<std::string> name = take_ref_type(cursor);
  if (!name) return std::nullopt;
  return ReferenceOrValue{ValueType::kRef, *std::move(name)};
}

std::optional<FunctionType> take_function_type(Cursor& cursor, bool named) {
  FunctionType type;
  if (!cursor.expect("(")) return std::nullopt;
  while (!cursor.accept(")")) {
    if (!type.signature.empty() && !cursor.expect(",")) return std::nullopt;
    if (!take_argument(cursor, named, type)) return std::nullopt;
  }
  if (type.signature.empty()) type.signature += 'v';
  type.signature += '_';
  if (!take_results(cursor, type)) return std::nullopt;
  if (type.results.values + type.results.refs == 0) type.signature += 'v';
  return type;
}

std::optional<AttributeDeclaration> take_attribute(Cursor& cursor) {
  std::optional<std::string> key = cursor.take_string("the attribute's name in quotes");
  if (!key || !cursor.expect("=")) return std::nullopt;
  std::optional<std::string> value = cursor.take_strings("the attribute's value in quotes");
  if (!value) return std::nullopt;
  return AttributeDeclaration{*std::move(key), *std::move(value)};
}

Declarations parse_directives(Cursor& cursor) { return Directives(cursor).run(); }

}  // namespace baton::bytecode::assembler
