// Executables in a .bvmasm text: entry points with their launches, and variants.
#include "bytecode/assembler_parser.hpp"

namespace baton::bytecode::assembler {
namespace {

constexpr uint32_t kWordsMax = 65535;  // verify_executables.cpp
constexpr std::string_view kAccesses[] = {"open", "read", "write", "read_write"};

bool take_count(Cursor& cursor, std::string_view what, uint32_t maximum, uint32_t& count) {
  const auto number = cursor.take_integer(0, maximum, what);
  if (number) count = static_cast<uint32_t>(*number);
  return number.has_value();
}

// "[read, write, open]"
bool take_bindings(Cursor& cursor, std::vector<uint8_t>& bindings) {
  if (!cursor.expect("[")) return false;
  while (!cursor.accept("]")) {
    if (!bindings.empty() && !cursor.expect(",")) return false;
    const Token& word = cursor.peek();
    uint8_t access = 0;
    while (access < std::size(kAccesses) && !word.is(kAccesses[access])) ++access;
    if (access == std::size(kAccesses)) {
      cursor.error(word, "A binding is open, read, write or read_write, not ", shown(word), ".");
      return false;
    }
    bindings.push_back(access);
    cursor.next();
  }
  return true;
}

// "64, 1, 1, 4096": the workgroup's size, then bytes of local memory.
bool take_launch(Cursor& cursor, LaunchRow& launch) {
  for (uint32_t& size : launch.workgroup_size) {
    if (!take_count(cursor, "a workgroup's size", UINT32_MAX, size) || !cursor.expect(",")) return false;
  }
  return take_count(cursor, "bytes of local memory", UINT32_MAX, launch.local_memory_bytes);
}

// "[64, 1, 1, 0, 32, 1, 1, 4096]"
bool take_launches(Cursor& cursor, std::vector<LaunchRow>& launches) {
  if (!cursor.expect("[")) return false;
  do {
    if (!take_launch(cursor, launches.emplace_back())) return false;
  } while (cursor.accept(","));
  return cursor.expect("]");
}

bool take_entry_point(Cursor& cursor, EntryPointRow& entry) {
  std::optional<std::string> name = cursor.take_string("the entry point's name in quotes");
  if (!name) return false;
  entry.name = *std::move(name);
  if (cursor.accept("constants") && !take_count(cursor, "a number of constants", kWordsMax, entry.constants)) {
    return false;
  }
  if (cursor.accept("bindings") && !take_bindings(cursor, entry.bindings)) return false;
  if (!cursor.accept("launch")) return true;
  return cursor.expect("[") && take_launch(cursor, entry.launch.emplace()) && cursor.expect("]");
}

bool take_launch_attribute(Cursor& cursor, const Token& word, ExecutableRow& row) {
  if (row.entry_points.empty()) {
    cursor.error(word, "A launch attribute stands behind its entry point, and here is none before it.");
    return false;
  }
  std::optional<std::string> name = cursor.take_string("the launch attribute's name in quotes");
  if (!name || !cursor.expect("=")) return false;
  const auto value = cursor.take_integer(INT64_MIN, INT64_MAX, "a launch attribute");
  if (!value) return false;
  row.entry_points.back().attributes.push_back({*std::move(name), static_cast<int64_t>(*value)});
  return true;
}

bool take_variant(Cursor& cursor, ExecutableDeclaration& made) {
  std::optional<std::string> format = cursor.take_string("the variant's format in quotes");
  const Token* rodata = format ? cursor.take(TokenKind::kSymbol, "the variant's @rodata") : nullptr;
  if (!rodata) return false;
  VariantRow variant;
  variant.format = *std::move(format);
  if (cursor.accept("target")) {
    std::optional<std::string> target = cursor.take_string("the variant's target in quotes");
    if (!target) return false;
    variant.target = *std::move(target);
  }
  const Token* condition = nullptr;
  if (cursor.accept("condition")) {
    condition = cursor.take(TokenKind::kSymbol, "the condition's @function");
    if (!condition) return false;
  }
  if (cursor.accept("constants") && !take_count(cursor, "a number of constants", kWordsMax, variant.constants)) {
    return false;
  }
  if (cursor.accept("launches") && !take_launches(cursor, variant.launches)) return false;
  made.row.variants.push_back(std::move(variant));
  made.rodata.push_back(rodata);
  made.conditions.push_back(condition);
  return true;
}

bool take_line(Cursor& cursor, ExecutableDeclaration& made) {
  const Token& word = cursor.next();
  if (word.is("entry_point")) return take_entry_point(cursor, made.row.entry_points.emplace_back());
  if (word.is("launch_attribute")) return take_launch_attribute(cursor, word, made.row);
  if (word.is("variant")) return take_variant(cursor, made);
  constexpr std::string_view words[] = {"entry_point", "launch_attribute", "variant"};
  const std::string ending = cursor.ending(word.spelling, words);
  cursor.error(word, "No line of an executable begins with ", shown(word), ending);
  return false;
}

}  // namespace

bool take_executable(Cursor& cursor, ExecutableDeclaration& made) {
  if (cursor.accept("registered")) {
    std::optional<std::string> name = cursor.take_string("the name that the host knows it by, in quotes");
    if (!name) return false;
    made.row.registered_name = *std::move(name);
  }
  if (!cursor.expect("{")) return false;
  for (cursor.skip_newlines(); !cursor.accept("}"); cursor.skip_newlines()) {
    if (cursor.at_end()) return cursor.expect("}");
    if (take_line(cursor, made) && cursor.expect_statement_end(true)) continue;
    while (!cursor.at_end() && !cursor.accept("}")) cursor.next();
    return true;  // The error is said; the executable is over.
  }
  return true;
}

}  // namespace baton::bytecode::assembler
