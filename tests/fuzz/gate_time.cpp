// Searches for the file that the gate takes longest over, by the time it takes for each 8-byte word: mutations that make
// it slower stay. Random only in its beginning, which is always the same.
//
//   gate_time [generations [file]]     prints the slowest of each search, and of all, which it keeps in the file
//
// Files that are refused count as well: whoever wants to hold somebody up does not mind.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bytecode/verifier.hpp"
#include "tests/bytecode/raw_module.hpp"

namespace baton::bytecode {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t limit) { return next() % limit; }

 private:
  uint64_t state_;
};

enum Kind : uint8_t {
  kNop,
  kConstant,
  kFarConstant,
  kMove,
  kAdd,
  kBack,
  kAhead,
  kGo,
  kCall,
  kTable,
  kNull,
  kCopyRef,
  kKinds
};

struct Gene {
  Kind kind;
  uint16_t a;
  uint16_t b;
};

struct Genome {
  uint16_t values = 64;
  uint16_t refs = 8;
  uint16_t functions = 1;
  uint16_t repeats = 64;
  std::vector<Gene> body;
};

Gene random_gene(Random& random) {
  return {static_cast<Kind>(random.below(kKinds)), static_cast<uint16_t>(random.next()),
          static_cast<uint16_t>(random.next())};
}

Genome mutate(Genome genome, Random& random) {
  constexpr uint16_t kFrames[] = {4, 60, 64, 65, 128, 500, 4096, 65535};
  for (uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
    const size_t at = random.below(genome.body.size());
    switch (random.below(8)) {
      case 0: genome.values = kFrames[random.below(8)]; break;
      case 1: genome.refs = kFrames[random.below(8)]; break;
      case 2: genome.functions = static_cast<uint16_t>(1 + random.below(64)); break;
      case 3: genome.repeats = static_cast<uint16_t>(1 + random.below(400)); break;
      case 4:
        if (genome.body.size() < 200)
          genome.body.insert(genome.body.begin() + static_cast<ptrdiff_t>(at), random_gene(random));
        break;
      case 5:
        if (genome.body.size() > 1) genome.body.erase(genome.body.begin() + static_cast<ptrdiff_t>(at));
        break;
      default: genome.body[at] = random_gene(random); break;
    }
  }
  return genome;
}

// Appends what the gene means at the end of the code of a function that begins at `begin`.
void write(const Gene& gene, const Genome& genome, size_t begin, size_t end, std::vector<uint64_t>& code) {
  const auto here = static_cast<int64_t>(code.size());
  const uint64_t value = gene.a % genome.values, other = gene.b % genome.values;
  const uint64_t ref = gene.a % genome.refs;
  const auto ahead = [&](uint16_t way) {
    return static_cast<int64_t>(std::min(end - 1, code.size() + 1 + way % 256)) - here;
  };
  switch (gene.kind) {
    case kConstant: return code.push_back(wide_word(Opcode::const_i32, value % 64, 1));
    case kFarConstant: return code.push_back(wide_word(Opcode::const_i32, value, 1));
    case kMove: return code.push_back(word(Opcode::move, value, 0));
    case kAdd: return code.push_back(word(Opcode::add_i32, value, 0, other < 2 ? other : 0));
    case kBack:
      return code.push_back(
          wide_word(Opcode::br_if, 0, -static_cast<int64_t>(std::min(code.size() - begin, size_t{gene.b} % 4096))));
    case kAhead: return code.push_back(wide_word(Opcode::br_if, 0, ahead(gene.b)));
    case kGo: return code.push_back(wide_word(Opcode::br, 0, 1));
    case kCall: return code.push_back(word(Opcode::call, 0, genome.values - 1u, 0));
    case kNull: return code.push_back(word(Opcode::null_ref, ref));
    case kCopyRef: return code.push_back(word(Opcode::copy_ref, ref, 0));
    default: return code.push_back(word(Opcode::nop));
  }
}

RawModule express(const Genome& genome) {
  RawModule module = RawModule::with_function("i_v", genome.values, genome.refs, {});
  module.functions.clear();
  for (uint16_t f = 0; f < genome.functions; ++f) {
    const size_t begin = module.code.size();
    const size_t words = 2 + genome.body.size() * genome.repeats;
    module.code.push_back(word(Opcode::null_ref, 0));
    for (uint16_t r = 0; r < genome.repeats; ++r) {
      for (const Gene& gene : genome.body) write(gene, genome, begin, begin + words, module.code);
    }
    module.code.push_back(word(Opcode::ret));
    module.functions.emplace_back(static_cast<uint32_t>(begin), static_cast<uint32_t>(module.code.size() - begin), 0,
                                  genome.values, genome.refs);
  }
  return module;
}

struct Measured {
  double ns_per_word = 0;
  size_t words = 0;
  bool accepted = false;
};

Measured measure(const Genome& genome) {
  if (genome.body.size() * genome.repeats * genome.functions > 400'000) return {};
  const ModuleBytes bytes = express(genome).finish();
  Measured measured{.words = bytes.bytes().size() / 8};
  double least = 1e30;
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    measured.accepted = verify(bytes.bytes()).has_value();
    least = std::min(least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  // What every file costs, however small, is no matter.
  measured.ns_per_word = measured.words < 2000 ? 0 : least / static_cast<double>(measured.words);
  return measured;
}

void print(const char* what, const Genome& genome, const Measured& measured) {
  std::printf("%-10s %6.1f ns a word; %zu words, %u functions, frames of %u and %u, %s\n", what, measured.ns_per_word,
              measured.words, genome.functions, genome.values, genome.refs, measured.accepted ? "accepted" : "refused");
}

}  // namespace

int search(int generations, const char* file) {
  Measured worst;
  Genome worst_genome;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    Genome best;
    for (uint64_t i = 0; i < 8 + 8 * seed; ++i) best.body.push_back(random_gene(random));
    Measured slowest = measure(best);
    for (int g = 0; g < generations; ++g) {
      Genome changed = mutate(best, random);
      const Measured measured = measure(changed);
      if (measured.ns_per_word < slowest.ns_per_word) continue;
      slowest = measured;
      best = std::move(changed);
    }
    slowest = measure(best);  // Once more: what was luck goes.
    print(("search " + std::to_string(seed)).c_str(), best, slowest);
    std::fflush(stdout);
    if (slowest.ns_per_word < worst.ns_per_word) continue;
    worst = slowest;
    worst_genome = best;
  }
  print("slowest", worst_genome, worst);
  if (!file) return 0;
  const ModuleBytes bytes = express(worst_genome).finish();
  std::FILE* const out = std::fopen(file, "wb");
  if (!out) return 1;
  const bool written = std::fwrite(bytes.bytes().data(), 1, bytes.bytes().size(), out) == bytes.bytes().size();
  return std::fclose(out) == 0 && written ? 0 : 1;
}

}  // namespace baton::bytecode

int main(int argc, char** argv) {
  return baton::bytecode::search(argc > 1 ? std::atoi(argv[1]) : 500, argc > 2 ? argv[2] : nullptr);
}
