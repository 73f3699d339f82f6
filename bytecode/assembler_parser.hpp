// What the files of the assembler share: the cursor over tokens, and what the text declares.
//
// The assembler reads a text twice. Directives first (assembler_directives.cpp): everything that has a name, with
// function bodies passed over. Then bodies (assembler_code.cpp), when every name is known; so names may be used before
// they are declared. Indices follow the order of the text, kind by kind; assembler.cpp hands them to the builder.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/assembler.hpp"
#include "bytecode/assembler_lexer.hpp"
#include "bytecode/module_builder.hpp"

namespace baton::bytecode::assembler {

// A place in the tokens. The take_ functions move past what they return; a failed one says why and does not move.
class Cursor {
 public:
  Cursor(const std::vector<Token>& tokens, Diagnostics& diagnostics) : tokens_(tokens), diagnostics_(diagnostics) {}

  const Token& peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : tokens_.back();
  }
  const Token& next();
  bool accept(std::string_view word);
  bool expect(std::string_view word);
  bool at_end() const { return peek().kind == TokenKind::kEnd; }
  // Whether a statement may end here: the line does, or a brace closes the body.
  bool at_statement_end() const { return peek().kind == TokenKind::kNewline || at_end() || peek().is("}"); }
  bool expect_statement_end(bool brace_ends);
  void skip_statement();
  void skip_newlines();

  const Token* take(TokenKind kind, std::string_view what);
  std::optional<std::string> take_string(std::string_view what);
  // Whether a string comes next, here or on a following line; moves there.
  bool move_to_string();
  // Adjacent strings are one; they may begin and continue on following lines.
  std::optional<std::string> take_strings(std::string_view what);
  // An integer between the limits; minimum is signed, maximum is not. `advice` is for those who went beyond.
  std::optional<uint64_t> take_integer(int64_t minimum, uint64_t maximum, std::string_view what,
                                       std::string_view advice = {});
  // The register bits of a number of this type. Integers may be given as signed or unsigned, floats as 0x bits.
  std::optional<uint64_t> take_number(ValueType type);
  std::optional<uint32_t> take_u32(std::string_view what) {
    const auto number = take_integer(0, UINT32_MAX, what);
    return number ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
  }

  template <typename... Parts>
  void error(const Token& at, const Parts&... sentence) {
    diagnostics_.error(at, sentence...);
  }
  // How a sentence about an unknown name ends: "; did you mean 'sum'?", or "." when nothing is near.
  std::string ending(std::string_view name, std::span<const std::string_view> candidates) const;
  bool has_errors() const { return diagnostics_.any(); }

  size_t position() const { return at_; }
  void move_to(size_t position) { at_ = position; }

 private:
  const std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
};

// How a message shows a token.
std::string shown(const Token& token);

// The registers that a call moves, and the signature's text (signature.hpp).
struct FunctionType {
  struct Counts {
    uint32_t values = 0;
    uint32_t refs = 0;
    void add(ValueType type) { ++(is_ref(type) ? refs : values); }
  };
  std::string signature;
  Counts arguments;  // without segments
  Counts results;
  std::vector<Counts> segments;
  std::map<std::string, std::string, std::less<>> registers;  // argument name → %v0, %r1
};

// "(i32, %name: blob, (i64)...) -> f32". Names only where `named`.
std::optional<FunctionType> take_function_type(Cursor& cursor, bool named);

struct ReferenceOrValue {
  ValueType type;
  std::string ref_type;
};
std::optional<ReferenceOrValue> take_type(Cursor& cursor);
std::optional<std::string> take_ref_type(Cursor& cursor);

struct ImportDeclaration {
  ModuleBuilder::Import import;
  FunctionType type;
  const Token* fallback = nullptr;
};
struct RodataDeclaration {
  std::string name;
  std::string bytes;
};
// The row without what it names elsewhere: one token for each variant.
struct ExecutableDeclaration {
  ExecutableRow row;
  std::vector<const Token*> rodata;
  std::vector<const Token*> conditions;  // null: none
};
struct FunctionDeclaration {
  std::string name;
  FunctionType type;
  std::vector<std::string> exports;
  std::optional<uint16_t> values;
  std::optional<uint16_t> refs;
  size_t body = 0;  // position of the token behind the brace; 0 when there was an error before it
};
struct AttributeDeclaration {
  std::string key;
  std::string value;
};

// Names of one kind of thing → indices.
class Names {
 public:
  explicit Names(std::string_view kind) : kind_(kind) {}

  // Gives the next index to the symbol; reports one that is taken.
  void declare(const Token& symbol, Cursor& cursor);
  // Reports a symbol that is not declared, with the nearest that are.
  std::optional<uint32_t> find(const Token& symbol, Cursor& cursor) const;

 private:
  struct Entry {
    uint32_t index;
    uint32_t line;
  };
  std::string_view kind_;
  std::map<Symbol, Entry> entries_;
  uint32_t count_ = 0;
};

// Everything in the text but the code.
struct Declarations {
  std::string name;
  uint32_t version = 0;
  bool has_module = false;
  bool stripped = false;
  std::vector<AttributeDeclaration> attributes;
  std::vector<std::string> types;
  std::vector<std::string> signatures;
  std::vector<ImportDeclaration> imports;
  std::vector<ModuleBuilder::Global> globals;
  std::vector<RodataDeclaration> rodata;
  std::vector<ExecutableDeclaration> executables;
  std::vector<FunctionDeclaration> functions;
  const Token* initializer = nullptr;

  Names import_names{"import"};
  Names global_names{"global"};
  Names rodata_names{"rodata"};
  Names executable_names{"executable"};
  Names function_names{"function"};
};

std::optional<AttributeDeclaration> take_attribute(Cursor& cursor);
// assembler_executables.cpp: what follows the name, up to the brace that ends the executable.
bool take_executable(Cursor& cursor, ExecutableDeclaration& made);

// assembler_directives.cpp
Declarations parse_directives(Cursor& cursor);
// assembler_code.cpp: defines the function in the builder, unless there were errors. Moves the cursor to the body.
void assemble_body(Cursor& cursor, const Declarations& declarations, uint32_t function, const AssemblerOptions& options,
                   ModuleBuilder& builder);

}  // namespace baton::bytecode::assembler
