// The rows of bench/budgets.txt that begin with `modules.`: instructions as callgrind counts them.
#include "bench/support/counted.hpp"

#include <memory>

#include "bench/modules/fixture.hpp"

namespace baton::bench {
namespace {

std::unique_ptr<ProgramFixture> program;

void pair_null() { program = std::make_unique<ProgramFixture>("record_pair", "null"); }
void pair_local() { program = std::make_unique<ProgramFixture>("record_pair", "local-sync"); }
void whole() { program = std::make_unique<ProgramFixture>("record_execute_wait", "local-sync"); }
void again() { program = std::make_unique<ProgramFixture>("execute_again", "local-sync"); }

// Programs that count by themselves.
void run_once(uint64_t count) { program->run(static_cast<int32_t>(count), static_cast<int32_t>(count)); }
void run_each(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) program->run(0, 0);
}

constexpr CountedRow kRows[] = {
    {"record_pair_null", pair_null, run_once},
    {"record_pair_local", pair_local, run_once},
    {"record_execute_wait", whole, run_each},
    {"execute_again", again, run_once},
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) { return baton::bench::run_counted(argc, argv, baton::bench::kRows); }
