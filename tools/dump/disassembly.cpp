#include "tools/dump/disassembly.hpp"

#include <map>

#include "base/text.hpp"
#include "bytecode/disassembler.hpp"
#include "bytecode/instruction_reader.hpp"
#include "tools/support/files.hpp"

namespace baton::tools::dump {
namespace {

using bytecode::ModuleView;
using bytecode::SourceLocation;

// The lines of the files that a module names, read once each; a file that is gone has none.
class SourceLines {
 public:
  std::string_view line(const SourceLocation& place) {
    const std::vector<std::string>& lines = lines_of(std::string(place.file));
    return place.line >= 1 && place.line <= lines.size() ? std::string_view(lines[place.line - 1]) : "";
  }

 private:
  const std::vector<std::string>& lines_of(const std::string& file) {
    const auto [entry, fresh] = files_.try_emplace(file);
    if (!fresh || file.empty() || file == "-") return entry->second;
    const auto bytes = read_file(file);
    if (!bytes.has_value()) return entry->second;
    std::string_view rest = text_of(*bytes);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      entry->second.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return entry->second;
  }

  std::map<std::string, std::vector<std::string>> files_;
};

std::string place_text(const SourceLocation& place) { return text(place.file, ":", place.line, ":", place.column); }

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

std::string describe_function(const ModuleView& module, uint32_t index, SourceLines& sources) {
  constexpr size_t kPcWidth = 6;
  const bytecode::FunctionView function = module.function(index);
  std::string lines =
      text("@", module.function_name(index), " is ", bytecode::describe_signature(function.signature), "\n");
  std::string shown;  // The place above the last instruction.
  for (size_t at = 0; at < function.code.size();) {
    const uint32_t pc = function.code_begin + static_cast<uint32_t>(at);
    const std::optional<SourceLocation> source = module.location(pc);
    const std::string place = source ? place_text(*source) : "";
    if (source && place != shown) {
      const std::string_view line = without_indent(sources.line(*source));
      lines += text("  ; ", place, line.empty() ? "" : "  ", line, "\n");
    }
    shown = place;
    const std::string number = text(pc);
    lines += text(std::string(number.size() < kPcWidth ? kPcWidth - number.size() : 0, ' '), number, "  ",
                  bytecode::list_instruction(module, pc), "\n");
    const uint64_t* words = &function.code[at];
    at += bytecode::instruction_words(words, bytecode::info(bytecode::read_opcode(words)));
  }
  return lines;
}

}  // namespace

std::string describe_place(const ModuleView& module, uint32_t pc) {
  if (pc == bytecode::kNoIndex) return "";
  const std::optional<SourceLocation> source = module.location(pc);
  return source ? text(" (", place_text(*source), ")") : "";
}

std::string describe_disassembly(const ModuleView& module) {
  SourceLines sources;
  std::string lines = text("disassembly (", module.function_count(), " functions)\n");
  for (uint32_t i = 0; i < module.function_count(); ++i) lines += describe_function(module, i, sources);
  return lines;
}

}  // namespace baton::tools::dump
