// Function bodies: one loop over the operands of a row reads every instruction.
#include <algorithm>
#include <limits>

#include "base/status.hpp"
#include "bytecode/assembler_parser.hpp"
#include "bytecode/instruction_info.hpp"
#include "bytecode/instruction_writer.hpp"

namespace baton::bytecode::assembler {
namespace {

constexpr uint32_t kRegistersMax = UINT16_MAX;

class Body {
 public:
  Body(Cursor& cursor, const Declarations& declarations, uint32_t function, const AssemblerOptions& options,
       ModuleBuilder& builder)
      : cursor_(cursor),
        declarations_(declarations),
        declaration_(declarations.functions[function]),
        function_(function),
        options_(options),
        builder_(builder) {}

  void assemble() {
    need(declaration_.type.arguments, 0, 0);
    need(declaration_.type.results, 0, 0);
    cursor_.move_to(declaration_.body);
    for (cursor_.skip_newlines(); !cursor_.peek().is("}"); cursor_.skip_newlines()) {
      if (cursor_.at_end()) return cursor_.error(cursor_.peek(), "The last function has no '}'.");
      if (!statement() || !cursor_.expect_statement_end(true)) cursor_.skip_statement();
    }
    report_unplaced_labels();
    define(cursor_.peek());
  }

 private:
  struct Label {
    LabelId id;
    const Token* first_use = nullptr;
    const Token* placed = nullptr;
  };
  struct Mark {
    uint32_t instruction;
    std::string file;
    uint32_t line;
    uint32_t column;
  };

  bool statement() {
    const Token* word = cursor_.take(TokenKind::kWord, "an instruction, a label or '}'");
    if (!word) return false;
    if (cursor_.accept(":")) return place_label(*word) && (cursor_.at_statement_end() || statement());
    if (word->is("attribute")) return attribute();
    if (word->is("loc")) return location();
    return instruction(*word);
  }

  bool place_label(const Token& name) {
    Label& label = find_label(name);
    if (label.placed) {
      cursor_.error(name, "Line ", label.placed->line, " has the label ", shown(name), " too.");
      return false;
    }
    label.placed = &name;
    writer_.place(label.id);
    return true;
  }

  Label& find_label(const Token& name) {
    const auto found = labels_.find(name.spelling);
    if (found != labels_.end()) return found->second;
    return labels_.emplace(name.spelling, Label{writer_.new_label()}).first->second;
  }

  bool attribute() {
    const std::optional<AttributeDeclaration> attribute = take_attribute(cursor_);
    if (attribute) builder_.add_attribute(function_, attribute->key, attribute->value);
    return attribute.has_value();
  }

  // loc "file":line:column, for what follows.
  bool location() {
    std::optional<std::string> file = cursor_.take_string("a file's name in quotes");
    if (!file || !cursor_.expect(":")) return false;
    const std::optional<uint32_t> line = cursor_.take_u32("a line");
    if (!line || !cursor_.expect(":")) return false;
    const std::optional<uint32_t> column = cursor_.take_u32("a column");
    if (!column) return false;
    mark({writer_.instruction_count(), *std::move(file), *line, *column});
    has_locations_ = true;
    return true;
  }

  // Of several locations for one instruction the last holds.
  void mark(Mark mark) {
    if (!marks_.empty() && marks_.back().instruction == mark.instruction) marks_.pop_back();
    marks_.push_back(std::move(mark));
  }

  bool instruction(const Token& mnemonic) {
    const std::optional<Opcode> opcode = opcode_from_mnemonic(mnemonic.spelling);
    if (!opcode) return unknown_mnemonic(mnemonic);
    if (options_.record_locations && !has_locations_) {
      mark({writer_.instruction_count(), std::string(options_.file_name), mnemonic.line, mnemonic.column});
    }
    const InstructionInfo& row = info(*opcode);
    operands_.clear();
    list_.clear();
    callee_ = nullptr;
    bases_ = {};
    bool is_first = true;
    for (const Operand& operand : row.operands()) {
      if (operand.kind == OperandKind::kCount) continue;  // The list says it.
      if (!is_first && !cursor_.expect(",")) return false;
      is_first = false;
      if (is_list(operand.kind) ? !take_list(operand.kind) : !take_operand(operand.kind, row)) return false;
    }
    if ((row.flags & kCalls) != 0) need_window();
    writer_.emit(*opcode, operands_, list_);
    return true;
  }

  bool unknown_mnemonic(const Token& mnemonic) {
    std::vector<std::string_view> mnemonics;
    for (uint16_t code = 0; code < kOpcodeLimit; ++code) {
      if (const InstructionInfo* row = find_info(code)) mnemonics.push_back(row->mnemonic());
    }
    const std::string ending = cursor_.ending(mnemonic.spelling, mnemonics);
    cursor_.error(mnemonic, "No instruction is called ", shown(mnemonic), ending);
    return false;
  }

  bool take_operand(OperandKind kind, const InstructionInfo& row) {
    const std::optional<uint64_t> number = operand(kind, row);
    if (number) operands_.push_back(*number);
    return number.has_value();
  }

  std::optional<uint64_t> operand(OperandKind kind, const InstructionInfo& row) {
    if (is_value_register(kind)) return take_register('v');
    if (is_ref_register(kind)) return take_register('r');
    switch (kind) {
      case OperandKind::kValueBase: return bases_.values = take_base('v');
      case OperandKind::kRefBase: return bases_.refs = take_base('r');
      case OperandKind::kImm16: return cursor_.take_integer(INT16_MIN, INT16_MAX, "a constant of 16 bits");
      case OperandKind::kImmI32: return take_immediate(row);
      case OperandKind::kImmI64: return cursor_.take_number(ValueType::kI64);
      case OperandKind::kImmF32: return cursor_.take_number(ValueType::kF32);
      case OperandKind::kImmF64: return cursor_.take_number(ValueType::kF64);
      case OperandKind::kNearLabel:
      case OperandKind::kLabel: return take_label();
      case OperandKind::kCallee: return take_callee(declarations_.function_names, declarations_.functions);
      case OperandKind::kImport: return take_callee(declarations_.import_names, declarations_.imports);
      case OperandKind::kGlobal:
      case OperandKind::kGlobalRef: return take_name(declarations_.global_names, "a @global");
      case OperandKind::kRodata: return take_name(declarations_.rodata_names, "a @rodata segment");
      case OperandKind::kExecutable: return take_name(declarations_.executable_names, "an @executable");
      case OperandKind::kType: return take_ref_type_index();
      case OperandKind::kCode: return take_status_code();
      default: return std::nullopt;  // Registers, kCount and lists are taken elsewhere.
    }
  }

  // "[a, b, c]", on as many lines as you like.
  bool take_list(OperandKind kind) {
    if (!cursor_.expect("[")) return false;
    for (cursor_.skip_newlines(); !cursor_.accept("]"); cursor_.skip_newlines()) {
      if (!list_.empty() && !cursor_.expect(",")) return false;
      cursor_.skip_newlines();
      const std::optional<uint64_t> element = kind == OperandKind::kLabels ? take_label()
                                              : kind == OperandKind::kLent && counts_are_over()
                                                  ? take_lent()
                                                  : cursor_.take_integer(0, UINT16_MAX, "a count");
      if (!element) return false;
      list_.push_back(*element);
    }
    return true;
  }

  // Whether the list of a lending call has the counts of all segments.
  bool counts_are_over() const { return list_.size() >= callee_->segments.size(); }

  std::optional<uint64_t> take_lent() {
    if (!cursor_.accept("null")) return take_register('r');
    return kNoRegister;
  }

  std::optional<uint64_t> take_register(char bank) {
    const std::optional<uint64_t> number = take_base(bank);
    if (!number) return std::nullopt;
    if (*number < kRegistersMax) {
      need({.values = bank == 'v' ? 1u : 0u, .refs = bank == 'r' ? 1u : 0u}, *number, *number);
      return number;
    }
    cursor_.error(cursor_.peek(), "Register ", *number, " is beyond the largest frame (", kRegistersMax, ").");
    return std::nullopt;
  }

  // A register's number. As the base of a call it may be one that the frame doesn't have, if nothing is passed there.
  std::optional<uint64_t> take_base(char bank) {
    const std::string_view what = bank == 'v' ? "a value register" : "a reference register";
    const Token* token = cursor_.take(TokenKind::kRegister, what);
    if (!token) return std::nullopt;
    std::string_view name = token->spelling.substr(1);
    const auto& aliases = declaration_.type.registers;
    if (const auto alias = aliases.find(name); alias != aliases.end()) name = alias->second;
    uint64_t number = 0;
    for (char c : name.substr(1)) {
      if (c < '0' || c > '9' || number > kRegistersMax) return unknown_register(*token);
      number = number * 10 + static_cast<uint64_t>(c - '0');
    }
    if (name.size() < 2 || number > kRegistersMax || (name[0] != 'v' && name[0] != 'r'))
      return unknown_register(*token);
    if (name[0] == bank) return number;
    cursor_.error(*token, shown(*token), " is not ", what, ".");
    return std::nullopt;
  }

  std::optional<uint64_t> unknown_register(const Token& token) {
    cursor_.error(token, shown(token), " is neither a register (%v0 to %v65534, %r0 to %r65534) nor an argument.");
    return std::nullopt;
  }

  // An integer of 32 bits. For an i64 it will be sign-extended, so there it must be in range as a signed number.
  std::optional<uint64_t> take_immediate(const InstructionInfo& row) {
    const bool is_wide = row.operands().operands[0].slot == SlotType::kI64;
    const std::string wide_row = text(row.mnemonic(), ".wide");
    const std::string advice = opcode_from_mnemonic(wide_row) ? text("; use ", wide_row) : std::string();
    return cursor_.take_integer(INT32_MIN, is_wide ? uint64_t{INT32_MAX} : uint64_t{UINT32_MAX},
                                "a constant of 32 bits", advice);
  }

  std::optional<uint64_t> take_label() {
    const Token* name = cursor_.take(TokenKind::kWord, "a label");
    if (!name) return std::nullopt;
    Label& label = find_label(*name);
    if (!label.first_use) label.first_use = name;
    return label.id;
  }

  std::optional<uint64_t> take_name(const Names& names, std::string_view what) {
    const Token* symbol = cursor_.take(TokenKind::kSymbol, what);
    if (!symbol) return std::nullopt;
    return names.find(*symbol, cursor_);
  }

  template <typename Declaration>
  std::optional<uint64_t> take_callee(const Names& names, const std::vector<Declaration>& table) {
    const Token& symbol = cursor_.peek();
    const std::optional<uint64_t> index = take_name(names, "a @function");
    if (!index) return std::nullopt;
    if (*index < kRegistersMax) {
      callee_ = &table[*index].type;
      return index;
    }
    cursor_.error(symbol, shown(symbol), " is number ", *index, ", and 16 bits can't name it.");
    return std::nullopt;
  }

  std::optional<uint64_t> take_ref_type_index() {
    const std::optional<std::string> name = take_ref_type(cursor_);
    if (!name) return std::nullopt;
    return builder_.add_type(*name);
  }

  // A failure's code: its name in lower case, or its number.
  std::optional<uint64_t> take_status_code() {
    if (cursor_.peek().kind == TokenKind::kNumber) return cursor_.take_integer(0, UINT16_MAX, "a status code");
    const Token* name = cursor_.take(TokenKind::kWord, "a status code");
    if (!name) return std::nullopt;
    std::vector<std::string> names;
    for (int32_t code = 0; code <= static_cast<int32_t>(StatusCode::kUnauthenticated); ++code) {
      names.push_back(status_code_word(static_cast<StatusCode>(code)));
      if (names.back() == name->spelling) return static_cast<uint64_t>(code);
    }
    const std::string ending =
        cursor_.ending(name->spelling, std::vector<std::string_view>(names.begin(), names.end()));
    cursor_.error(*name, "No status code is called ", shown(*name), ending);
    return std::nullopt;
  }

  // The frame must hold these registers from these on.
  void need(FunctionType::Counts counts, uint64_t value_base, uint64_t ref_base) {
    if (counts.values != 0) values_ = std::max(values_, value_base + counts.values);
    if (counts.refs != 0) refs_ = std::max(refs_, ref_base + counts.refs);
  }

  // The frame must hold what a call takes and gives back.
  void need_window() {
    FunctionType::Counts arguments = callee_->arguments;
    for (size_t i = 0; i < std::min(list_.size(), callee_->segments.size()); ++i) {
      arguments.values += static_cast<uint32_t>(list_[i]) * callee_->segments[i].values;
      arguments.refs += static_cast<uint32_t>(list_[i]) * callee_->segments[i].refs;
    }
    need(arguments, bases_.values.value_or(0), bases_.refs.value_or(0));
    need(callee_->results, bases_.values.value_or(0), bases_.refs.value_or(0));
  }

  void report_unplaced_labels() {
    std::vector<std::string_view> placed;
    for (const auto& [name, label] : labels_) {
      if (label.placed) placed.push_back(name);
    }
    for (const auto& [name, label] : labels_) {
      if (label.placed) continue;
      cursor_.error(*label.first_use, "The function has no label '", name, "'", cursor_.ending(name, placed));
    }
  }

  void define(const Token& brace) {
    if (cursor_.has_errors()) return;
    if (values_ > kRegistersMax || refs_ > kRegistersMax) {
      return cursor_.error(brace, "The function needs ", values_, " value and ", refs_,
                           " reference registers (at most ", kRegistersMax, " of each).");
    }
    Result<InstructionWriter::Code> code = writer_.finish();
    if (!code) return cursor_.error(brace, code.error().message());
    std::vector<ModuleBuilder::Location> locations;
    for (Mark& mark : marks_) {
      const uint32_t pc = code->starts[mark.instruction];
      if (pc < code->words.size()) locations.push_back({pc, std::move(mark.file), mark.line, mark.column});
    }
    builder_.define_function(function_, std::move(code->words),
                             declaration_.values.value_or(static_cast<uint16_t>(values_)),
                             declaration_.refs.value_or(static_cast<uint16_t>(refs_)), std::move(locations));
  }

  Cursor& cursor_;
  const Declarations& declarations_;
  const FunctionDeclaration& declaration_;
  uint32_t function_;
  const AssemblerOptions& options_;
  ModuleBuilder& builder_;

  InstructionWriter writer_;
  std::map<std::string_view, Label> labels_;
  std::vector<Mark> marks_;
  bool has_locations_ = false;  // the text says where code comes from
  uint64_t values_ = 0;         // registers that the frame needs
  uint64_t refs_ = 0;

  // Of the instruction being read.
  std::vector<uint64_t> operands_;
  std::vector<uint64_t> list_;
  const FunctionType* callee_ = nullptr;
  struct {
    std::optional<uint64_t> values;
    std::optional<uint64_t> refs;
  } bases_;
};

}  // namespace

void assemble_body(Cursor& cursor, const Declarations& declarations, uint32_t function, const AssemblerOptions& options,
                   ModuleBuilder& builder) {
  Body(cursor, declarations, function, options, builder).assemble();
}

}  // namespace baton::bytecode::assembler
