#include "compiler-lite/emit/write_function.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "bytecode/instruction_writer.hpp"
#include "compiler-lite/allocate/registers.hpp"

namespace baton::compiler_lite::emit {

using bytecode::InstructionWriter;
using bytecode::LabelId;
using bytecode::Opcode;

namespace {

constexpr uint32_t kRegistersMax = 65535;

// One of several moves that happen at once. A reference that isn't wanted afterwards is taken, which saves a retain.
struct Move {
  uint32_t target;
  Source source;       // When a constant.
  uint32_t place = 0;  // When a register.
  bool takes = false;
};

// The branch that goes the other way: !(a < b) is b <= a, and so on; swapped when the operands change places.
struct Inverse {
  Opcode opcode;
  bool swapped;
};

std::optional<Inverse> inverse_of(Opcode opcode) {
  switch (opcode) {
#define BOTH(a, b, swapped)                           \
  case Opcode::a: return Inverse{Opcode::b, swapped}; \
  case Opcode::b: return Inverse{Opcode::a, swapped};
    BOTH(br_if, br_if_not, false)
    BOTH(br_eq_i32, br_ne_i32, false)
    BOTH(br_lt_s_i32, br_le_s_i32, true)
    BOTH(br_lt_u_i32, br_le_u_i32, true)
    BOTH(br_eq_i64, br_ne_i64, false)
    BOTH(br_lt_s_i64, br_le_s_i64, true)
    BOTH(br_lt_u_i64, br_le_u_i64, true)
    BOTH(br_eq_imm_i32, br_ne_imm_i32, false)
    BOTH(br_lt_s_imm_i32, br_ge_s_imm_i32, false)
    BOTH(br_le_s_imm_i32, br_gt_s_imm_i32, false)
    BOTH(br_eq_imm_i64, br_ne_imm_i64, false)
    BOTH(br_lt_s_imm_i64, br_ge_s_imm_i64, false)
    BOTH(br_le_s_imm_i64, br_gt_s_imm_i64, false)
    BOTH(br_eq_f32, br_ne_f32, false)
    BOTH(br_lt_f32, br_nlt_f32, false)
    BOTH(br_le_f32, br_nle_f32, false)
    BOTH(br_eq_f64, br_ne_f64, false)
    BOTH(br_lt_f64, br_nlt_f64, false)
    BOTH(br_le_f64, br_nle_f64, false)
#undef BOTH
    default: return std::nullopt;
  }
}

// Writes the words of one function. Its many methods are one for each form of an instruction: moves, branches, calls,
// constants.
class FunctionWriter {
 public:
  FunctionWriter(Function& function, const std::vector<std::string>& files)
      : function_(function), files_(files), assignment_(allocate::assign_registers(function)) {
    for (size_t i = 0; i < function.blocks.size(); ++i) labels_.push_back(writer_.new_label());
    registers_[0] = assignment_.registers[0];
    registers_[1] = assignment_.registers[1];
  }

  Status write(uint32_t index, bytecode::ModuleBuilder& builder) {
    for (block_ = 0; block_ < function_.blocks.size(); ++block_) {
      writer_.place(labels_[block_]);
      Block& block = function_.blocks[block_];
      for (size_t i = 0; i < block.instructions.size(); ++i) {
        position_ = 2 * assignment_.liveness.slot(block_, i);
        mark(block.instructions[i].location);
        if (i + 2 == block.instructions.size() && write_next(block.instructions[i], block.instructions[i + 1])) break;
        write(block.instructions[i]);
      }
    }
    // Edges with moves that a branch takes stand behind the code.
    for (size_t i = 0; i < far_edges_.size(); ++i) {
      writer_.place(far_edges_[i].label);
      move_all(moves_of(*far_edges_[i].edge));
      writer_.emit(Opcode::br, {labels_[far_edges_[i].edge->block]});
    }
    if (std::max(registers_[0], registers_[1]) > kRegistersMax) {
      return failure(StatusCode::kResourceExhausted, "a function needs ", std::max(registers_[0], registers_[1]),
                     " registers, and ", kRegistersMax, " are the most that code can name");
    }
    BATON_TRY_ASSIGN(InstructionWriter::Code code, writer_.finish());
    std::vector<bytecode::ModuleBuilder::Location> locations;
    for (const Mark& at : marks_) {
      locations.push_back(
          {code.starts[at.instruction], files_[at.location.file], at.location.line, at.location.column});
    }
    builder.define_function(index, std::move(code.words), static_cast<uint16_t>(registers_[0]),
                            static_cast<uint16_t>(registers_[1]), std::move(locations));
    return {};
  }

 private:
  size_t bank_of(const Source& source) const {
    if (source.is_register()) return static_cast<size_t>(function_.banks[source.value]);
    return source.kind >= Source::Kind::kRodata ? 1 : 0;
  }
  uint32_t place(uint64_t reg) const { return assignment_.places[reg]; }
  void need(size_t bank, uint32_t reg) { registers_[bank] = std::max(registers_[bank], reg + 1); }

  void mark(const Location& location) {
    if (location.file == 0) return;
    if (!marks_.empty()) {
      const Location& last = marks_.back().location;
      if (last.file == location.file && last.line == location.line && last.column == location.column) return;
    }
    if (!marks_.empty() && marks_.back().instruction == writer_.instruction_count()) marks_.pop_back();
    marks_.push_back({writer_.instruction_count(), location});
  }

  void write(const Instruction& instruction) {
    switch (instruction.kind) {
      case Instruction::Kind::kPlain:
      case Instruction::Kind::kEnd: writer_.emit(instruction.opcode, encoded(instruction.operands)); break;
      case Instruction::Kind::kCall: write_call(instruction); break;
      case Instruction::Kind::kReturn: write_return(instruction); break;
      case Instruction::Kind::kJump: fall_to(instruction.edges[0]); break;
      case Instruction::Kind::kBranch: write_branch(instruction); break;
      case Instruction::Kind::kTable: write_table(instruction); break;
    }
  }

  std::vector<uint64_t> encoded(const std::vector<Operand>& operands) const {
    std::vector<uint64_t> numbers;
    for (const Operand& operand : operands) {
      numbers.push_back(operand.is_register ? place(operand.value) : operand.value);
    }
    return numbers;
  }

  // Moves for arguments that shall stand from `base` on, in each bank.
  std::vector<Move> moves_to(const std::vector<Source>& sources, const uint16_t (&bases)[2]) {
    uint32_t next[2] = {bases[0], bases[1]};
    std::vector<Move> moves;
    for (const Source& source : sources) {
      const size_t bank = bank_of(source);
      const uint32_t target = next[bank]++;
      need(bank, target);
      if (!source.is_register()) {
        moves.push_back({target, source});
        continue;
      }
      const bool dies = !assignment_.liveness.lifetimes[source.value].lives_across(position_);
      moves.push_back({target, source, place(source.value), dies && occurs_once(sources, source)});
    }
    return moves;
  }

  std::vector<Move> moves_of(const Edge& edge) {
    std::vector<Move> moves;
    const std::vector<Register>& parameters = function_.blocks[edge.block].parameters;
    for (size_t i = 0; i < edge.arguments.size(); ++i) {
      const Source& source = edge.arguments[i];
      if (assignment_.places[parameters[i]] == UINT32_MAX) continue;
      const uint32_t target = place(parameters[i]);
      if (!source.is_register()) {
        moves.push_back({target, source});
        continue;
      }
      const bool dies = !assignment_.liveness.live_in[edge.block][source.value];
      moves.push_back({target, source, place(source.value), dies && occurs_once(edge.arguments, source)});
    }
    return moves;
  }

  static bool occurs_once(const std::vector<Source>& sources, const Source& wanted) {
    return std::count_if(sources.begin(), sources.end(), [&](const Source& source) {
             return source.is_register() && source.value == wanted.value;
           }) == 1;
  }

  // All at once: what is overwritten is read before. Rings go by way of a scratch register above all others.
  void move_all(std::vector<Move> moves) {
    std::vector<Move> constants;
    std::vector<Move> pending[2];
    for (const Move& each : moves) {
      if (!each.source.is_register())
        constants.push_back(each);
      else if (each.target != each.place)
        pending[bank_of(each.source)].push_back(each);
    }
    for (size_t bank = 0; bank < 2; ++bank) move_registers(pending[bank], bank, moves);
    for (const Move& each : constants) load(each.target, each.source);
  }

  void move_registers(std::vector<Move>& pending, size_t bank, const std::vector<Move>& all) {
    while (!pending.empty()) {
      const auto is_read = [&](uint32_t place_read) {
        return std::any_of(pending.begin(), pending.end(),
                           [&](const Move& other) { return other.place == place_read; });
      };
      const auto ready =
          std::find_if(pending.begin(), pending.end(), [&](const Move& each) { return !is_read(each.target); });
      if (ready != pending.end()) {
        emit_move(bank, *ready);
        pending.erase(ready);
        continue;
      }
      const uint32_t scratch = scratch_above(all, bank);
      const uint32_t blocked = pending.front().place;
      emit_move(bank, {scratch, pending.front().source, blocked, true});
      for (Move& each : pending) {
        if (each.place == blocked) each.place = scratch;
      }
    }
  }

  uint32_t scratch_above(const std::vector<Move>& all, size_t bank) {
    uint32_t scratch = assignment_.registers[bank];
    for (const Move& each : all) {
      if (bank_of(each.source) == bank) scratch = std::max(scratch, each.target + 1);
    }
    need(bank, scratch);
    return scratch;
  }

  void emit_move(size_t bank, const Move& move) {
    if (bank == 0)
      writer_.emit(Opcode::move, {move.target, move.place});
    else
      writer_.emit(move.takes ? Opcode::move_ref : Opcode::copy_ref, {move.target, move.place});
  }

  void load(uint32_t target, const Source& source) {
    switch (source.kind) {
      case Source::Kind::kI32: writer_.emit(Opcode::const_i32, {target, source.value}); break;
      case Source::Kind::kF32: writer_.emit(Opcode::const_f32, {target, source.value}); break;
      case Source::Kind::kF64: writer_.emit(Opcode::const_f64, {target, source.value}); break;
      case Source::Kind::kRodata: writer_.emit(Opcode::rodata, {target, source.value}); break;
      case Source::Kind::kNull: writer_.emit(Opcode::null_ref, {target}); break;
      case Source::Kind::kI64: {
        const int64_t value = static_cast<int64_t>(source.value);
        if (value == static_cast<int32_t>(value))
          writer_.emit(Opcode::const_i64, {target, static_cast<uint32_t>(value)});
        else
          writer_.emit(Opcode::const_i64_wide, {target, source.value});
        break;
      }
      case Source::Kind::kRegister: break;
    }
  }

  void write_call(const Instruction& call) {
    const std::initializer_list<uint64_t> operands = {call.callee, call.bases[0], call.bases[1]};
    if (call.lends) {
      write_lending(call, operands);
    } else {
      move_all(moves_to(call.arguments, call.bases));
      writer_.emit(call.opcode, operands, call.segments);
    }
    uint32_t next[2] = {call.bases[0], call.bases[1]};
    std::vector<Move> moves;
    for (const Register result : call.results) {
      const size_t bank = static_cast<size_t>(function_.banks[result]);
      const uint32_t from = next[bank]++;
      need(bank, from);
      moves.push_back({place(result), {Source::Kind::kRegister, result}, from, true});
    }
    move_all(std::move(moves));
  }

  // References stay in their registers. The call releases those that are not used afterwards, as a consuming call
  // would.
  void write_lending(const Instruction& call, std::span<const uint64_t> operands) {
    std::vector<Source> values;
    std::vector<uint64_t> list = call.segments;
    std::vector<uint32_t> last_uses;
    uint32_t below = call.bases[1];  // where the last segment of rodata stands
    for (const Source& source : call.arguments) {
      if (bank_of(source) == 0) {
        values.push_back(source);
        continue;
      }
      uint32_t lent = bytecode::kNoRegister;
      if (source.is_register()) lent = place(source.value);
      if (source.kind == Source::Kind::kRodata) load(lent = --below, source);
      list.push_back(lent);
      need(1, call.bases[1] + static_cast<uint32_t>(list.size() - call.segments.size()) - 1);
      if (!source.is_register() || assignment_.liveness.lifetimes[source.value].lives_across(position_)) continue;
      last_uses.push_back(place(source.value));
    }
    move_all(moves_to(values, call.bases));
    writer_.emit(Opcode::call_lend, operands, list);
    std::sort(last_uses.begin(), last_uses.end());
    last_uses.erase(std::unique(last_uses.begin(), last_uses.end()), last_uses.end());
    for (const uint32_t reg : last_uses) writer_.emit(Opcode::null_ref, {reg});
  }

  void write_return(const Instruction& instruction) {
    if (instruction.arguments.size() == 1 && instruction.arguments[0].is_register() &&
        bank_of(instruction.arguments[0]) == 0) {
      writer_.emit(Opcode::ret_value, {place(instruction.arguments[0].value)});
      return;
    }
    move_all(moves_to(instruction.arguments, {0, 0}));
    writer_.emit(Opcode::ret, {});
  }

  bool moves_nothing(const Edge& edge) {
    const std::vector<Move> moves = moves_of(edge);
    return std::all_of(moves.begin(), moves.end(),
                       [](const Move& each) { return each.source.is_register() && each.target == each.place; });
  }

  // The label of an edge: its block, or where its moves will stand.
  LabelId label_of(const Edge& edge) {
    if (moves_nothing(edge)) return labels_[edge.block];
    far_edges_.push_back({writer_.new_label(), &edge});
    return far_edges_.back().label;
  }

  void fall_to(const Edge& edge) {
    move_all(moves_of(edge));
    if (edge.block == block_ + 1) return;
    if (const std::optional<Rotated> again = rotated(edge)) return write_rotated(*again);
    writer_.emit(Opcode::br, {labels_[edge.block]});
  }

  // A loop's head that only decides whether to go on is repeated at the loop's end, so that going on costs one branch.
  struct Rotated {
    Opcode opcode;
    std::vector<uint64_t> operands;
    const Edge* stay;
    const Edge* leave;
  };

  std::optional<Rotated> rotated(const Edge& edge) const {
    const Block& head = function_.blocks[edge.block];
    if (edge.block > block_ || head.instructions.size() != 1) return std::nullopt;
    const Instruction& branch = head.instructions[0];
    if (branch.kind != Instruction::Kind::kBranch) return std::nullopt;
    Rotated again{branch.opcode, encoded(branch.operands), &branch.edges[0], &branch.edges[1]};
    if (again.stay->block == edge.block + 1) return again;
    const std::optional<Inverse> inverse = inverse_of(branch.opcode);
    if (!inverse) return again;
    again.opcode = inverse->opcode;
    if (inverse->swapped) std::swap(again.operands[0], again.operands[1]);
    std::swap(again.stay, again.leave);
    return again;
  }

  void write_rotated(Rotated again) {
    again.operands.push_back(label_of(*again.stay));
    writer_.emit(again.opcode, again.operands);
    move_all(moves_of(*again.leave));
    if (again.leave->block != block_ + 1) writer_.emit(Opcode::br, {labels_[again.leave->block]});
  }

  // `counter := counter + 1` in front of a rotated `counter < limit` is one instruction.
  bool write_next(const Instruction& add, const Instruction& jump) {
    const bool wide = add.opcode == Opcode::add_imm_i64;
    if (add.kind != Instruction::Kind::kPlain || (!wide && add.opcode != Opcode::add_imm_i32)) return false;
    if (jump.kind != Instruction::Kind::kJump || jump.edges[0].block == block_ + 1) return false;
    const std::vector<uint64_t> operands = encoded(add.operands);
    if (operands[0] != operands[1] || operands[2] != 1 || !moves_nothing(jump.edges[0])) return false;
    std::optional<Rotated> again = rotated(jump.edges[0]);
    if (!again || again->opcode != (wide ? Opcode::br_lt_s_i64 : Opcode::br_lt_s_i32)) return false;
    if (again->operands[0] != operands[0] || again->operands[1] == operands[0]) return false;
    again->opcode = wide ? Opcode::next_i64 : Opcode::next_i32;
    write_rotated(std::move(*again));
    return true;
  }

  void write_branch(const Instruction& branch) {
    const Edge& taken = branch.edges[0];
    const Edge& other = branch.edges[1];
    std::vector<uint64_t> operands = encoded(branch.operands);
    const std::optional<Inverse> inverse = inverse_of(branch.opcode);
    if (taken.block == block_ + 1 && other.block != block_ + 1 && inverse) {
      if (inverse->swapped) std::swap(operands[0], operands[1]);
      operands.push_back(label_of(other));
      writer_.emit(inverse->opcode, operands);
      return fall_to(taken);
    }
    operands.push_back(label_of(taken));
    writer_.emit(branch.opcode, operands);
    fall_to(other);
  }

  void write_table(const Instruction& table) {
    std::vector<uint64_t> targets;
    for (const Edge& edge : table.edges) targets.push_back(label_of(edge));
    const uint64_t index = place(table.operands[0].value);
    writer_.emit(Opcode::br_table, std::span<const uint64_t>(&index, 1), targets);
  }

  struct Mark {
    uint32_t instruction;
    Location location;
  };
  struct FarEdge {
    LabelId label;
    const Edge* edge;
  };

  Function& function_;
  const std::vector<std::string>& files_;
  allocate::Assignment assignment_;
  InstructionWriter writer_;
  std::vector<LabelId> labels_;  // by block
  std::vector<FarEdge> far_edges_;
  std::vector<Mark> marks_;
  uint32_t registers_[2] = {0, 0};
  size_t block_ = 0;
  uint32_t position_ = 0;  // where the instruction that is being written reads
};

}  // namespace

Status write_function(Function& function, uint32_t index, const std::vector<std::string>& files,
                      bytecode::ModuleBuilder& builder) {
  return FunctionWriter(function, files).write(index, builder);
}

}  // namespace baton::compiler_lite::emit
