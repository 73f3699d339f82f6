#include "compiler-lite/allocate/registers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace baton::compiler_lite::allocate {

using emit::Bank;
using emit::Edge;
using emit::Function;
using emit::Instruction;
using emit::Register;
using emit::Source;

namespace {

constexpr uint32_t kNowhere = UINT32_MAX;

// An argument's or result's number among those of its bank.
struct Place {
  Instruction* instruction;
  uint32_t slot;
  uint32_t number;
};

class Assigner {
 public:
  explicit Assigner(Function& function) : function_(function) {
    result_.liveness = find_liveness(function);
    result_.places.assign(function.banks.size(), kNowhere);
    call_arguments_.resize(function.banks.size());
    call_results_.resize(function.banks.size());
    returned_.resize(function.banks.size());
    partners_.resize(function.banks.size());
    collect();
    note_what_lives_across_calls();
  }

  Assignment run() {
    uint32_t next[2] = {0, 0};
    for (const Register parameter : function_.blocks[0].parameters) put(parameter, next[bank(parameter)]++);
    std::vector<Register> order;
    for (Register reg = 0; reg < function_.banks.size(); ++reg) {
      if (result_.places[reg] == kNowhere && !lifetime(reg).empty()) order.push_back(reg);
    }
    std::sort(order.begin(), order.end(), [&](Register a, Register b) {
      return lifetime(a).begin() != lifetime(b).begin() ? lifetime(a).begin() < lifetime(b).begin() : a < b;
    });
    for (const Register reg : order) put(reg, choose(reg));
    for (Place& call : calls_) finish(call);
    return std::move(result_);
  }

 private:
  size_t bank(Register reg) const { return static_cast<size_t>(function_.banks[reg]); }
  const Lifetime& lifetime(Register reg) const { return result_.liveness.lifetimes[reg]; }

  void collect() {
    for (size_t b = 0; b < function_.blocks.size(); ++b) {
      for (size_t i = 0; i < function_.blocks[b].instructions.size(); ++i) {
        Instruction& instruction = function_.blocks[b].instructions[i];
        const uint32_t slot = result_.liveness.slot(b, i);
        if (instruction.kind == Instruction::Kind::kCall) collect_call(instruction, slot);
        if (instruction.kind == Instruction::Kind::kReturn) collect_sources(instruction, slot, returned_);
        for (const Edge& edge : instruction.edges) collect_edge(edge);
      }
    }
  }

  void collect_call(Instruction& call, uint32_t slot) {
    call_indices_[&call] = calls_.size();
    call.lends = should_lend(call, slot);
    calls_.push_back({&call, slot, static_cast<uint32_t>(calls_.size())});
    guesses_.push_back({kNowhere, kNowhere});
    collect_sources(call, slot, call_arguments_);
    uint32_t numbers[2] = {0, 0};
    for (const Register reg : call.results) call_results_[reg] = Place{&call, slot, numbers[bank(reg)]++};
  }

  // Calls stand in the order of their slots.
  void note_what_lives_across_calls() {
    living_across_.resize(calls_.size());
    const auto is_before = [](const Place& call, uint32_t position) { return 2 * call.slot < position; };
    for (Register reg = 0; reg < function_.banks.size(); ++reg) {
      for (const Range& range : lifetime(reg).ranges) {
        auto call = std::lower_bound(calls_.begin(), calls_.end(), range.begin, is_before);
        for (; call != calls_.end() && 2 * call->slot < range.end; ++call) living_across_[call->number].push_back(reg);
      }
    }
  }

  // Only imports can be lent to. Segments of rodata get registers right below the window.
  bool should_lend(const Instruction& call, uint32_t slot) const {
    if (call.opcode == bytecode::Opcode::call) return false;
    bool lives_on = false;
    for (const Source& source : call.arguments) {
      if (!source.is_register() || bank(static_cast<Register>(source.value)) == 0) continue;
      lives_on |= lifetime(static_cast<Register>(source.value)).lives_across(2 * slot);
    }
    return lives_on;
  }

  void collect_sources(Instruction& instruction, uint32_t slot, std::vector<std::vector<Place>>& places) {
    uint32_t numbers[2] = {0, 0};
    for (const Source& source : instruction.arguments) {
      if (source.is_register()) {
        const Register reg = static_cast<Register>(source.value);
        places[reg].push_back({&instruction, slot, numbers[bank(reg)]++});
      } else {
        ++numbers[source.kind >= Source::Kind::kRodata ? 1 : 0];
      }
    }
  }

  void collect_edge(const Edge& edge) {
    for (size_t i = 0; i < edge.arguments.size(); ++i) {
      if (!edge.arguments[i].is_register()) continue;
      const Register from = static_cast<Register>(edge.arguments[i].value);
      const Register to = function_.blocks[edge.block].parameters[i];
      partners_[from].push_back(to);
      partners_[to].push_back(from);
    }
  }

  bool is_free(size_t in_bank, uint32_t place, const Lifetime& wanted) const {
    if (place >= taken_[in_bank].size()) return true;
    for (const Lifetime* taken : taken_[in_bank][place]) {
      if (taken->overlaps(wanted)) return false;
    }
    return true;
  }

  void put(Register reg, uint32_t place) {
    std::vector<std::vector<const Lifetime*>>& taken = taken_[bank(reg)];
    if (place >= taken.size()) taken.resize(place + 1);
    taken[place].push_back(&lifetime(reg));
    result_.places[reg] = place;
    result_.registers[bank(reg)] = std::max(result_.registers[bank(reg)], place + 1);
  }

  uint32_t choose(Register reg) {
    const auto fits = [&](uint32_t place) { return place != kNowhere && is_free(bank(reg), place, lifetime(reg)); };
    if (const std::optional<Place>& made = call_results_[reg]) {
      Place& call = calls_[call_index(made->instruction)];
      finish(call);
      const uint32_t place = made->instruction->bases[bank(reg)] + made->number;
      if (fits(place)) return place;
    }
    for (const Register partner : partners_[reg]) {
      if (fits(result_.places[partner])) return result_.places[partner];
    }
    for (const Place& argument : call_arguments_[reg]) {
      if (lifetime(reg).lives_across(2 * argument.slot)) continue;  // It lives on, so it can't be consumed.
      if (bank(reg) == 1 && argument.instruction->lends) continue;  // What is lent stands below the window.
      const uint32_t place = guess(argument, bank(reg)) + argument.number;
      if (fits(place)) return place;
    }
    for (const Place& returned : returned_[reg]) {
      if (fits(returned.number)) return returned.number;
    }
    uint32_t place = 0;
    while (!fits(place)) ++place;
    return place;
  }

  size_t call_index(const Instruction* call) const { return call_indices_.find(call)->second; }

  // Where the window of a call will begin if all that must stay below it finds room there.
  uint32_t guess(const Place& argument, size_t in_bank) {
    const size_t index = call_index(argument.instruction);
    uint32_t& guessed = guesses_[index][in_bank];
    if (guessed != kNowhere) return guessed;
    uint32_t above = 0, living = 0;
    for (const Register reg : living_across_[index]) {
      if (bank(reg) != in_bank) continue;
      ++living;
      if (result_.places[reg] != kNowhere) above = std::max(above, result_.places[reg] + 1);
    }
    return guessed = std::max(above, living);
  }

  // Settles the bases of a call: all that lives across it has its place.
  void finish(Place& call) {
    const size_t index = call_index(call.instruction);
    uint32_t above[2] = {0, 0}, window[2] = {0, 0}, results[2] = {0, 0}, segments = 0;
    for (const Register reg : living_across_[index]) {
      if (result_.places[reg] == kNowhere) continue;
      above[bank(reg)] = std::max(above[bank(reg)], result_.places[reg] + 1);
    }
    for (const Source& source : call.instruction->arguments) {
      if (call.instruction->lends && source.is_register() && bank(static_cast<Register>(source.value)) == 1)
        above[1] = std::max(above[1], result_.places[source.value] + 1);
      segments += source.kind == Source::Kind::kRodata;
      ++window[source.is_register() ? bank(static_cast<Register>(source.value))
                                    : (source.kind >= Source::Kind::kRodata ? 1 : 0)];
    }
    for (const Register reg : call.instruction->results) ++results[bank(reg)];
    for (size_t b = 0; b < 2; ++b) {
      uint32_t base = above[b];
      if (guesses_[index][b] != kNowhere) base = std::max(base, guesses_[index][b]);
      if (b == 1 && call.instruction->lends) base += segments;
      call.instruction->bases[b] = static_cast<uint16_t>(base);
      result_.registers[b] = std::max(result_.registers[b], base + std::max(window[b], results[b]));
    }
  }

  Function& function_;
  Assignment result_;
  std::vector<std::vector<Place>> call_arguments_, returned_;  // by register
  std::vector<std::optional<Place>> call_results_;
  std::vector<std::vector<Register>> partners_;  // Parameters and what flows into them.
  std::vector<Place> calls_;
  std::unordered_map<const Instruction*, size_t> call_indices_;
  std::vector<std::vector<Register>> living_across_;    // by call
  std::vector<std::array<uint32_t, 2>> guesses_;        // by call
  std::vector<std::vector<const Lifetime*>> taken_[2];  // by bank and place
};

}  // namespace

Assignment assign_registers(Function& function) { return Assigner(function).run(); }

}  // namespace baton::compiler_lite::allocate
