// One rule keeps the verifier content: between two statements every register of the frame is defined. A statement is
// one instruction and what restores the rule after it; labels stand between statements only.
#include "program_generator.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "bytecode/instruction_writer.hpp"
#include "bytecode/module_builder.hpp"

namespace baton::fuzz {
namespace {

using namespace bytecode;

// Hands out the fuzzer's bytes; zeros when they are used up.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  uint8_t byte() {
    if (bytes_.empty()) return 0;
    const uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  size_t below(size_t limit) { return limit == 0 ? 0 : byte() % limit; }

  // Small numbers mostly, since those are sizes and indices; now and then one from the edges.
  int64_t number() {
    constexpr std::array<int64_t, 8> kEdges = {-1, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, 1 << 14, 1 << 20, -8};
    const uint8_t choice = byte();
    return choice < 232 ? choice % 24 : kEdges[choice % kEdges.size()];
  }

 private:
  std::span<const uint8_t> bytes_;
};

struct Callable {
  std::string_view name;
  std::string_view signature;
  bool is_optional = false;
};

constexpr std::array kImports = {
    Callable{"native.token", "v_r<token>"},
    Callable{"native.gate", "i_r<gate>"},
    Callable{"native.take", "rr_v"},
    Callable{"native.same", "rr_r"},
    Callable{"native.mix", "iIr_rfF"},
    Callable{"native.pass", "r<gate>r_i"},
    Callable{"native.fail", "r_r"},
    Callable{"native.variadic", "iCrD_i"},
    Callable{"native.pass_all", "r<gate>CriD_r"},
    Callable{"native.missing", "ir_r", true},
    Callable{"native.gone", "rCiD_v", true},
};
constexpr std::array<std::string_view, 8> kSignatures = {"v_v",   "i_i", "ir_r",   "rr_rr",
                                                         "IfF_F", "r_i", "v_rrrr", "iiii_r"};
constexpr std::array<std::string_view, 4> kTypes = {"blob", "list", "token", "gate"};
constexpr size_t kFunctionsMax = 5;
constexpr size_t kStatementsMax = 48;
constexpr size_t kLabels = 4;
constexpr uint32_t kValueGlobals = 2;  // the globals that follow hold references
constexpr uint32_t kRefGlobals = 3;
constexpr uint32_t kRodata = 3;

std::vector<Opcode> all_opcodes() {
  return {
#define OP(code, name, ...) Opcode::name,
#include "bytecode/isa.inc"
  };
}

// One function's statements.
class FunctionGenerator {
 public:
  FunctionGenerator(Choices& choices, std::span<const std::string_view> functions, std::string_view own_signature)
      : choices_(choices),
        functions_(functions),
        own_signature_(own_signature),
        shape_(*signature_shape(own_signature)) {
    values_ = std::max({4 + choices_.below(12), size_t{shape_.argument_values}, size_t{shape_.result_values}});
    refs_ = std::max({4 + choices_.below(12), size_t{shape_.argument_refs}, size_t{shape_.result_refs}});
    // Wide frames are proved, and walked, in another way (bytecode/verify_definitions.cpp).
    if (choices_.below(16) == 15) values_ += 70;
    if (choices_.below(16) == 15) refs_ += 70;
  }

  void generate() {
    for (LabelId& label : labels_) label = writer_.new_label();
    define(shape_.argument_values, shape_.argument_refs);
    const size_t statements = choices_.below(kStatementsMax);
    for (size_t i = 0; i < statements && !choices_.at_end(); ++i) {
      if (placed_ < kLabels && choices_.below(6) == 0) writer_.place(labels_[placed_++]);
      statement();
    }
    while (placed_ < kLabels) writer_.place(labels_[placed_++]);
    writer_.emit(Opcode::ret, {});
  }

  std::vector<uint64_t> words() const { return writer_.finish()->words; }
  uint16_t values() const { return static_cast<uint16_t>(values_); }
  uint16_t refs() const { return static_cast<uint16_t>(refs_); }
  bool stores_refs() const { return stores_refs_; }

 private:
  // Defines the registers from these on.
  void define(size_t first_value, size_t first_ref) {
    for (size_t i = first_value; i < values_; ++i) {
      writer_.emit(Opcode::const_i64_wide, {i, static_cast<uint64_t>(choices_.number())});
    }
    for (size_t i = first_ref; i < refs_; ++i) define_ref(i);
  }

  void define_ref(uint64_t ref) {
    switch (choices_.below(4)) {
      case 0: return writer_.emit(Opcode::null_ref, {ref});
      case 1: return writer_.emit(Opcode::rodata, {ref, choices_.below(kRodata)});
      case 2: return writer_.emit(Opcode::blob_alloc, {ref, choices_.below(values_)});
      default: return writer_.emit(Opcode::list_alloc, {ref, choices_.below(values_)});
    }
  }

  void statement() {
    static const std::vector<Opcode> kOpcodes = all_opcodes();
    const size_t choice = choices_.byte();
    if (choice < 48) return call_import();
    if (choice < 72) return call();
    if (choice < 80) return call_tail();
    if (choice < 176) {  // References, blobs and lists; the last rows of the table.
      constexpr size_t kObjectRows = 64;
      return instruction(kOpcodes[kOpcodes.size() - kObjectRows + choices_.below(kObjectRows)]);
    }
    instruction(kOpcodes[(choice * 256 + choices_.byte()) % kOpcodes.size()]);
  }

  void call_import() {
    const size_t index = choices_.below(kImports.size());
    const SignatureShape shape = *signature_shape(kImports[index].signature);
    std::vector<uint64_t> counts(shape.segments);
    size_t more_values = 0;
    size_t more_refs = 0;
    for (uint64_t& count : counts) {
      count = choices_.below(3);
      const bool both = kImports[index].signature.find("Cri") != std::string_view::npos;
      const bool ints = kImports[index].signature.find("Ci") != std::string_view::npos;
      more_values += both || ints ? count : 0;
      more_refs += ints ? 0 : count;
    }
    const auto base = window(shape.argument_values + more_values, shape.argument_refs + more_refs, shape);
    if (!base) return;
    const uint64_t operands[] = {index, base->first, base->second};
    if (choices_.below(2) == 0) {
      lend(operands, counts, shape.argument_refs + more_refs);
      return define(base->first + shape.result_values, base->second + shape.result_refs);
    }
    writer_.emit(shape.segments == 0 ? Opcode::call_import : Opcode::call_variadic, operands, counts);
    define(base->first + shape.result_values, base->second + shape.result_refs);
  }

  // The same call on references below its base, or on null where there are none.
  void lend(std::span<const uint64_t> operands, std::vector<uint64_t> list, size_t refs) {
    const uint64_t base = operands[2];
    for (size_t i = 0; i < refs; ++i) {
      const uint64_t choice = choices_.below(base + 1);
      list.push_back(choice == base ? kNoRegister : choice);
    }
    writer_.emit(Opcode::call_lend, operands, list);
  }

  void call() {
    const size_t index = choices_.below(functions_.size());
    const SignatureShape shape = *signature_shape(functions_[index]);
    const auto base = window(shape.argument_values, shape.argument_refs, shape);
    if (!base) return;
    writer_.emit(Opcode::call, {index, base->first, base->second});
    define(base->first + shape.result_values, base->second + shape.result_refs);
  }

  void call_tail() {
    const size_t index = choices_.below(functions_.size());
    const SignatureShape shape = *signature_shape(functions_[index]);
    if (results_of(functions_[index]) != results_of(own_signature_)) return;
    if (shape.argument_values > values_ || shape.argument_refs > refs_) return;
    const LabelId over = branch_over();
    writer_.emit(Opcode::call_tail, {index});
    writer_.place(over);
  }

  // Bases at which arguments and results fit into the frame.
  std::optional<std::pair<uint64_t, uint64_t>> window(size_t values, size_t refs, const SignatureShape& shape) {
    const size_t values_needed = std::max(values, size_t{shape.result_values});
    const size_t refs_needed = std::max(refs, size_t{shape.result_refs});
    if (values_needed > values_ || refs_needed > refs_) return std::nullopt;
    return std::pair{choices_.below(values_ - values_needed + 1), choices_.below(refs_ - refs_needed + 1)};
  }

  // What ends the function does so only when a register says it: the code behind stays reachable.
  LabelId branch_over() {
    const LabelId over = writer_.new_label();
    writer_.emit(Opcode::br_if, {choices_.below(values_), over});
    return over;
  }

  void instruction(Opcode opcode) {
    const InstructionInfo& row = info(opcode);
    if ((row.flags & kCalls) != 0) return;
    if (opcode == Opcode::executable) return;  // Modules that are made here have none; verifier_fuzz has such tables.
    if (opcode == Opcode::ret_value && (shape_.result_values != 1 || shape_.result_refs != 0)) return;
    stores_refs_ |= opcode == Opcode::list_push_ref || opcode == Opcode::list_set_ref;
    const bool ends = (row.flags & kEnds) != 0;
    const LabelId over = ends ? branch_over() : 0;
    std::vector<uint64_t> operands;
    std::vector<uint64_t> list;
    for (const Operand& operand : row.operands()) add_operand(operand.kind, operands, list);
    writer_.emit(opcode, operands, list);
    if (ends) writer_.place(over);
  }

  void add_operand(OperandKind kind, std::vector<uint64_t>& operands, std::vector<uint64_t>& list) {
    switch (kind) {
      case OperandKind::kDef:
      case OperandKind::kUse:
      case OperandKind::kUpdate: return operands.push_back(choices_.below(values_));
      case OperandKind::kDefRef:
      case OperandKind::kUseRef:
      case OperandKind::kTakeRef: return operands.push_back(choices_.below(refs_));
      case OperandKind::kImm16: return operands.push_back(choices_.below(200));
      case OperandKind::kImmI32:
      case OperandKind::kImmF32: return operands.push_back(static_cast<uint32_t>(choices_.number()));
      case OperandKind::kImmI64:
      case OperandKind::kImmF64: return operands.push_back(static_cast<uint64_t>(choices_.number()));
      case OperandKind::kNearLabel:
      case OperandKind::kLabel: return operands.push_back(labels_[choices_.below(kLabels)]);
      case OperandKind::kImport: return operands.push_back(choices_.below(kImports.size()));
      case OperandKind::kGlobal: return operands.push_back(choices_.below(kValueGlobals));
      case OperandKind::kGlobalRef: return operands.push_back(kValueGlobals + choices_.below(kRefGlobals));
      case OperandKind::kRodata: return operands.push_back(choices_.below(kRodata));
      case OperandKind::kType: return operands.push_back(choices_.below(kTypes.size()));
      case OperandKind::kCode: return operands.push_back(1 + choices_.below(16));
      case OperandKind::kLabels:
        for (size_t i = 0; i < 1 + choices_.below(3); ++i) list.push_back(labels_[choices_.below(kLabels)]);
        return;
      case OperandKind::kCount: return;  // The list says it.
      case OperandKind::kCallee:
      case OperandKind::kExecutable:
      case OperandKind::kValueBase:
      case OperandKind::kRefBase:
      case OperandKind::kSegments:
      case OperandKind::kLent: BATON_CHECK(false && "calls are made elsewhere, executables nowhere");
    }
  }

  Choices& choices_;
  const std::span<const std::string_view> functions_;
  const std::string_view own_signature_;
  const SignatureShape shape_;
  InstructionWriter writer_;
  std::array<LabelId, kLabels> labels_{};
  size_t placed_ = 0;
  size_t values_ = 0;
  size_t refs_ = 0;
  bool stores_refs_ = false;
};

void add_tables(ModuleBuilder& builder, Choices& choices) {
  for (std::string_view type : kTypes) builder.add_type(type);
  for (const Callable& import : kImports) {
    builder.add_import(
        {.name = std::string(import.name), .signature = std::string(import.signature), .optional = import.is_optional});
  }
  builder.add_global({.name = "count", .type = ValueType::kI32, .initial = choices.byte()});
  builder.add_global({.name = "size", .type = ValueType::kI64, .initial = choices.byte()});
  builder.add_global({.name = "any", .type = ValueType::kRef});
  builder.add_global({.name = "token", .type = ValueType::kRef, .ref_type = "token"});
  builder.add_global({.name = "list", .type = ValueType::kRef, .ref_type = "list"});
  static_assert(kValueGlobals + kRefGlobals == 5);
  const std::array<std::byte, 40> zeros{};
  for (size_t i = 0; i < kRodata; ++i) builder.add_rodata("", {zeros.data(), i * 20}, /*share=*/false);
}

}  // namespace

GeneratedProgram generate_program(std::span<const uint8_t> bytes) {
  Choices choices(bytes);
  ModuleBuilder builder("generated");
  add_tables(builder, choices);
  std::vector<std::string_view> functions(1 + choices.below(kFunctionsMax));
  for (std::string_view& signature : functions) {
    signature = kSignatures[choices.below(kSignatures.size())];
    const uint32_t function = builder.declare_function("", signature);
    builder.add_export(std::string("f") + static_cast<char>('0' + function), function);
  }
  GeneratedProgram program;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    FunctionGenerator function(choices, functions, functions[i]);
    function.generate();
    builder.define_function(i, function.words(), function.values(), function.refs());
    program.may_build_rings |= function.stores_refs();
  }
  program.bytes = *builder.finish();
  return program;
}

}  // namespace baton::fuzz
