#include "bytecode/disassembler.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "bytecode/assembler_lexer.hpp"
#include "bytecode/executable_view.hpp"
#include "bytecode/instruction_printer.hpp"
#include "bytecode/module_builder.hpp"

namespace baton::bytecode {
namespace {

using assembler::is_plain_name;
using assembler::quoted;

// Calls visit(word) for each instruction of a function.
template <typename Visit>
void for_each_instruction(std::span<const uint64_t> code, Visit visit) {
  for (size_t word = 0; word < code.size(); word += instruction_words(&code[word], info(read_opcode(&code[word])))) {
    visit(static_cast<uint32_t>(word));
  }
}

// The words of a function that its instructions branch to.
std::vector<bool> find_labels(std::span<const uint64_t> code) {
  std::vector<bool> labels(code.size() + 1);
  for_each_instruction(code, [&](uint32_t word) {
    const uint64_t* pc = &code[word];
    const OperandList& operands = info(read_opcode(pc)).operands();
    if (operands.count == 0) return;
    const OperandKind last = operands.operands[operands.count - 1u].kind;
    const size_t half = operands.halves[operands.count - 1u];
    const uint64_t bits = is_list(last) ? 0 : read_operand(pc, last, half);
    if (last == OperandKind::kNearLabel)
      labels[word + static_cast<uint32_t>(int32_t{static_cast<int16_t>(bits)})] = true;
    if (last == OperandKind::kLabel) labels[word + static_cast<uint32_t>(bits)] = true;
    if (last != OperandKind::kLabels) return;
    const uint64_t count = read_operand(pc, OperandKind::kCount, operands.halves[operands.count - 2u]);
    for (size_t i = 0; i < count; ++i) labels[word + static_cast<uint32_t>(read_label(pc + half / 4, i))] = true;
  });
  return labels;
}

// "(i32, (i64, ref)...)": one side of a signature. Results are without segments.
std::string side_text(std::string_view side) {
  std::string result;
  bool in_segment = false;
  size_t segment = 0;
  for (SignatureCursor at(side); at.next();) {
    if (in_segment && (!at.in_segment() || at.segment() != segment)) {
      result += ")...";
      in_segment = false;
    }
    if (!result.empty() && !result.ends_with("(")) result += ", ";
    if (at.in_segment() && !in_segment) {
      result += "(";
      in_segment = true;
      segment = at.segment();
    }
    result += type_text(at.type(), at.ref_type());
  }
  return text("(", result, in_segment ? ")...)" : ")");
}

// "(i32, blob) -> f32"
std::string function_type_text(std::string_view signature) {
  const std::string_view results = results_of(signature);
  SignatureCursor at(results);
  if (!at.next()) return side_text(arguments_of(signature));
  const std::string first = type_text(at.type(), at.ref_type());
  return text(side_text(arguments_of(signature)), " -> ", at.next() ? side_text(results) : first);
}

// Prints a whole module.
class Disassembler {
 public:
  explicit Disassembler(const ModuleView& module) : module_(module), printer_(module) {
    printer_.number_occurrences();
    for (uint32_t i = 0; i < module.attribute_count(); ++i) {
      attributes_.emplace(module.attribute(i).function, module.attribute(i));
    }
    for (uint32_t i = 0; i < module.export_count(); ++i) {
      exports_.emplace(module.export_at(i).function, module.export_at(i).name);
    }
  }

  std::string run() {
    line("module ", symbol_text(module_.name(), 0), " version ", module_.version());
    if (!module_.has_debug()) line("stripped");
    attributes(kNoIndex, "");
    tables();
    for (uint32_t i = 0; i < module_.import_count(); ++i) import(i);
    for (uint32_t i = 0; i < module_.global_count(); ++i) global(i);
    for (uint32_t i = 0; i < module_.rodata_count(); ++i) rodata(i);
    for (uint32_t i = 0; i < module_.executable_count(); ++i) executable(i);
    if (module_.initializer() != kNoIndex) line("initializer ", printer_.function(module_.initializer()));
    for (uint32_t i = 0; i < module_.function_count(); ++i) function(i);
    return std::move(out_);
  }

 private:
  template <typename... Parts>
  void line(const Parts&... parts) {
    (append_text(out_, parts), ...);
    out_ += '\n';
  }

  // The type and signature tables, where the assembler would order them otherwise: it fills them as it meets types and
  // signatures (assembler.cpp), which is what a builder of its own gets to see here.
  void tables() {
    ModuleBuilder meets("");
    for (uint32_t i = 0; i < module_.import_count(); ++i) meets.add_signature(module_.import(i).signature);
    for (uint32_t i = 0; i < module_.global_count(); ++i) {
      if (!module_.global(i).ref_type.empty()) meets.add_type(module_.global(i).ref_type);
    }
    for (uint32_t i = 0; i < module_.function_count(); ++i) meets.add_signature(module_.function(i).signature);
    for (uint32_t i = 0; i < module_.function_count(); ++i) meet_types(module_.function(i).code, meets);
    bool same = meets.types().size() == module_.type_count() && meets.signatures().size() == module_.signature_count();
    for (uint32_t i = 0; same && i < module_.type_count(); ++i) same = meets.types()[i] == module_.type(i);
    for (uint32_t i = 0; same && i < module_.signature_count(); ++i)
      same = meets.signatures()[i] == module_.signature(i);
    if (same) return;
    for (uint32_t i = 0; i < module_.type_count(); ++i) line("type ", type_text(ValueType::kRef, module_.type(i)));
    for (uint32_t i = 0; i < module_.signature_count(); ++i) line("signature ", quoted(module_.signature(i)));
  }

  void meet_types(std::span<const uint64_t> code, ModuleBuilder& meets) const {
    for_each_instruction(code, [&](uint32_t word) {
      const OperandList& operands = info(read_opcode(&code[word])).operands();
      for (size_t i = 0; i < operands.count; ++i) {
        if (operands.operands[i].kind != OperandKind::kType) continue;
        const uint64_t type = read_operand(&code[word], OperandKind::kType, operands.halves[i]);
        meets.add_type(module_.type(static_cast<uint32_t>(type)));
      }
    });
  }

  void attributes(uint32_t function, std::string_view indent) {
    const auto [first, last] = attributes_.equal_range(function);
    for (auto at = first; at != last; ++at) {
      line(indent, "attribute ", quoted(at->second.key), " = ", quoted(at->second.value));
    }
  }

  void import(uint32_t index) {
    const ImportView import = module_.import(index);
    std::string tail;
    if (import.minimum_version != 0) tail += text(" version ", import.minimum_version);
    if (import.fallback != kNoIndex) tail += text(" fallback ", printer_.function(import.fallback));
    line("import ", import.optional ? "optional " : "", printer_.import(index), function_type_text(import.signature),
         tail);
  }

  void global(uint32_t index) {
    const GlobalView global = module_.global(index);
    const std::string initial = global.initial == 0 ? "" : text(" = ", number_text(global.type, global.initial));
    line("global ", global.is_mutable ? "" : "const ", printer_.global(index), " : ",
         type_text(global.type, global.ref_type), initial);
  }

  // Writes a segment as text when it is readable, else in hexadecimal; long segments take several lines.
  void rodata(uint32_t index) {
    constexpr size_t kPieceMax = 96;
    const std::span<const std::byte> bytes = module_.rodata(index);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const bool as_text = is_readable(rest);
    const bool is_short = rest.size() <= (as_text ? kPieceMax : kPieceMax / 3);
    append_text(out_, text("rodata ", printer_.rodata(index), " =", as_text ? "" : " hex", is_short ? " " : "\n"));
    do {
      std::string_view piece = rest.substr(0, as_text ? kPieceMax : kPieceMax / 3);
      const size_t line_end = piece.find('\n');
      if (as_text && !is_short && line_end != piece.npos) piece = piece.substr(0, line_end + 1);
      line(is_short ? "" : "  ", as_text ? quoted(piece) : text('"', hex_digits(piece), '"'));
      rest.remove_prefix(piece.size());
    } while (!rest.empty());
  }

  // Whether people would rather see it as text: mostly letters, and nothing that needs \\xNN.
  static bool is_readable(std::string_view bytes) {
    const auto printable = std::count_if(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c < 0x7f; });
    return quoted(bytes).find("\\x") == std::string::npos && static_cast<size_t>(printable) * 2 >= bytes.size();
  }

  static std::string hex_digits(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (char c : bytes)
      result += {digits[static_cast<unsigned char>(c) / 16], digits[static_cast<unsigned char>(c) % 16]};
    return result;
  }

  void executable(uint32_t index) {
    const ExecutableView row = module_.executable(index);
    const std::string_view host = row.registered_name();
    line("executable ", printer_.executable(index), host.empty() ? "" : text(" registered ", quoted(host)), " {");
    for (uint32_t i = 0; i < row.entry_point_count(); ++i) entry_point(row.entry_point(i));
    for (uint32_t i = 0; i < row.variant_count(); ++i) variant(row.variant(i), row.entry_point_count());
    line("}");
  }

  void entry_point(const EntryPointView& entry) {
    std::string tail;
    if (entry.knows_layout()) tail += text(" constants ", entry.constants());
    std::string bindings;
    for (uint32_t i = 0; i < entry.binding_count(); ++i) {
      constexpr std::string_view words[] = {"open", "read", "write", "read_write"};
      bindings += text(i == 0 ? "" : ", ", words[entry.binding(i)]);
    }
    if (!bindings.empty()) tail += text(" bindings [", bindings, "]");
    if (const auto launch = entry.launch()) tail += text(" launch [", launch_text(*launch), "]");
    line("  entry_point ", quoted(entry.name()), tail);
    for (uint32_t i = 0; i < entry.attribute_count(); ++i) {
      line("    launch_attribute ", quoted(entry.attribute(i).name), " = ", entry.attribute(i).value);
    }
  }

  void variant(const VariantView& variant, uint32_t entry_points) {
    std::string tail;
    if (!variant.target().empty()) tail += text(" target ", quoted(variant.target()));
    if (variant.condition() != kNoIndex) tail += text(" condition ", printer_.function(variant.condition()));
    if (variant.constants() != 0) tail += text(" constants ", variant.constants());
    std::string launches;
    for (uint32_t i = 0; variant.has_launches() && i < entry_points; ++i) {
      launches += text(i == 0 ? "" : ", ", launch_text(variant.launch(i)));
    }
    if (!launches.empty()) tail += text(" launches [", launches, "]");
    line("  variant ", quoted(variant.format()), " ", printer_.rodata(variant.rodata()), tail);
  }

  static std::string launch_text(const LaunchRow& launch) {
    const uint32_t(&size)[3] = launch.workgroup_size;
    return text(size[0], ", ", size[1], ", ", size[2], ", ", launch.local_memory_bytes);
  }

  void function(uint32_t index) {
    const FunctionView function = module_.function(index);
    line();
    line(exports(index), "func ", printer_.function(index), function_type_text(function.signature), " values ",
         function.value_registers, " refs ", function.ref_registers, " {");
    attributes(index, "  ");
    const std::vector<bool> labels = find_labels(function.code);
    for_each_instruction(function.code, [&](uint32_t word) {
      if (labels[word]) line("L", word, ":");
      locations(function.code_begin + word);
      line("  ", printer_.instruction(function.code, word));
    });
    line("}");
  }

  // "export " when the function is exported under its own name and no other.
  std::string exports(uint32_t index) const {
    const auto [first, last] = exports_.equal_range(index);
    if (first == last) return {};
    const bool is_one = std::next(first) == last;
    if (is_one && module_.has_debug() && first->second == module_.function_name(index)) return "export ";
    std::string list;
    for (auto at = first; at != last; ++at) list += text(list.empty() ? "" : ", ", quoted(at->second));
    return text("export(", list, ") ");
  }

  // The rows that begin here or, in a file that isn't ours, inside the instruction before.
  void locations(uint32_t pc) {
    for (; location_ < module_.location_count() && module_.location_row(location_).pc <= pc; ++location_) {
      const SourceLocation source = module_.location_row(location_).source;
      line("  loc ", quoted(source.file), ":", source.line, ":", source.column);
    }
  }

  const ModuleView& module_;
  InstructionPrinter printer_;
  std::string out_;
  uint32_t location_ = 0;                              // the next row to print
  std::multimap<uint32_t, AttributeView> attributes_;  // by function
  std::multimap<uint32_t, std::string_view> exports_;
};

}  // namespace

std::string disassemble(const ModuleView& module) { return Disassembler(module).run(); }

namespace {

std::string one_instruction(const ModuleView& module, uint32_t pc, InstructionPrinter::Registers registers) {
  uint32_t first = 0;
  uint32_t last = module.function_count() - 1;  // The function that pc lies in is one of [first, last].
  while (first < last) {
    const uint32_t middle = first + (last - first + 1) / 2;
    if (module.function(middle).code_begin <= pc) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  const FunctionView function = module.function(first);
  return InstructionPrinter(module).instruction(function.code, pc - function.code_begin, registers);
}

}  // namespace

std::string disassemble_instruction(const ModuleView& module, uint32_t pc) {
  return one_instruction(module, pc, InstructionPrinter::Registers::kPlain);
}

std::string list_instruction(const ModuleView& module, uint32_t pc) {
  return one_instruction(module, pc, InstructionPrinter::Registers::kNamed);
}

}  // namespace baton::bytecode
