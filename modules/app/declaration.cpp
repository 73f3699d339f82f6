#include "modules/app/declaration.hpp"

#include <charconv>

#include "base/text.hpp"

namespace baton::app {
namespace {

std::string_view trimmed(std::string_view words) {
  while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
  while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
  return words;
}

// The place of the parenthesis that closes the list after `begin`; npos when there is none.
size_t end_of_list(std::string_view words, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < words.size(); ++i) {
    const char letter = words[i];
    if (letter == '(' || letter == '<' || letter == '[' || letter == '{') ++depth;
    const bool arrow = letter == '>' && i != 0 && words[i - 1] == '-';
    if ((letter == '>' && !arrow) || letter == ']' || letter == '}') --depth;
    if (letter == ')' && depth-- == 0) return i;
  }
  return std::string_view::npos;
}

// "%x: tensor<?xf32> {attributes}" to "tensor<?xf32>".
std::string type_in(std::string_view element) {
  element = trimmed(element);
  if (element.starts_with('%')) {
    const size_t colon = element.find(':');
    element = colon == element.npos ? std::string_view() : trimmed(element.substr(colon + 1));
  }
  return std::string(trimmed(element.substr(0, element.find(" {"))));
}

std::vector<std::string> types_in(std::string_view list) {
  std::vector<std::string> types;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char letter = i == list.size() ? ',' : list[i];
    if (letter == '<' || letter == '(' || letter == '[' || letter == '{') ++depth;
    if (letter == '>' || letter == ')' || letter == ']' || letter == '}') --depth;
    if (i != list.size() && (letter != ',' || depth > 0)) continue;
    if (!trimmed(list.substr(begin, i - begin)).empty()) types.push_back(type_in(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return types;
}

std::string_view attribute_of(const vm::BytecodeModule* module, uint32_t export_index, std::string_view key) {
  if (!module || export_index == bytecode::kNoIndex) return {};
  const bytecode::ModuleView& view = module->view();
  const uint32_t index = view.export_at(export_index).function;
  for (uint32_t i = 0; i < view.attribute_count(); ++i) {
    const bytecode::AttributeView attribute = view.attribute(i);
    if (attribute.function == index && attribute.key == key) return attribute.value;
  }
  return {};
}

Declaration declared_in(const vm::BytecodeModule* module, uint32_t export_index) {
  std::string_view words = attribute_of(module, export_index, "abi.declaration");
  if (words.empty()) words = attribute_of(module, export_index, "iree.abi.declaration");
  Declaration declaration = parse_declaration(words);
  declaration.takes_fences = attribute_of(module, export_index, "abi.model") == "coarse-fences";
  return declaration;
}

}  // namespace

Declaration parse_declaration(std::string_view text) {
  Declaration declaration;
  declaration.text = text;
  const size_t open = text.find('(');
  if (open == text.npos) return declaration;
  const size_t close = end_of_list(text, open + 1);
  if (close == text.npos) return declaration;
  declaration.known = true;
  declaration.arguments = types_in(text.substr(open + 1, close - open - 1));
  const size_t arrow = text.find("->", close);
  if (arrow == text.npos) return declaration;
  std::string_view results = trimmed(text.substr(arrow + 2));
  if (results.starts_with('(')) {
    const size_t end = end_of_list(results, 1);
    results = results.substr(1, end == results.npos ? results.npos : end - 1);
  }
  declaration.results = types_in(results);
  return declaration;
}

Declaration declaration_of(const vm::Program& program, const vm::ExportedFunction& function) {
  Declaration declaration = declared_in(program.modules()[function.module].bytecode, function.export_index);
  if (declaration.text.empty())
    declaration.text = baton::text("func @", function.name, bytecode::describe_signature(function.signature));
  return declaration;
}

Declaration declaration_of(const vm::Module& module, uint32_t export_index) {
  return declared_in(module.as_bytecode(), export_index);
}

std::string_view element_of(std::string_view type) {
  if (!type.starts_with("tensor<") || !type.ends_with('>')) return {};
  type = type.substr(7, type.size() - 8);
  if (const size_t encoding = type.find(','); encoding != type.npos) type = trimmed(type.substr(0, encoding));
  while (true) {
    const size_t x = type.find('x');
    const bool dimension = x != type.npos && (type.substr(0, x) == "?" || type.find_first_not_of("0123456789") == x);
    if (!dimension) return type;
    type.remove_prefix(x + 1);
  }
}

bool fits(std::string_view type, const std::vector<int64_t>& shape) {
  const std::string_view element = element_of(type);
  if (element.empty()) return true;
  std::string_view dimensions = type.substr(7, static_cast<size_t>(element.data() - type.data()) - 7);
  for (const int64_t extent : shape) {
    const size_t x = dimensions.find('x');
    if (x == dimensions.npos) return false;
    int64_t declared = extent;
    if (dimensions[0] != '?') std::from_chars(dimensions.data(), dimensions.data() + x, declared);
    if (declared != extent) return false;
    dimensions.remove_prefix(x + 1);
  }
  return dimensions.empty();
}

}  // namespace baton::app
