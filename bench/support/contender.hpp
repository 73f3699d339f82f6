// What a contender of a bench is: a program that answers one question per run, in its own way.
//
// The driver (bench/vm/run.py) starts contenders in turn, so that noise hits all alike. A contender is told the program
// to load and the answer to expect; a wrong answer ends it before anything is timed:
//
//   bench_vm_lua --phase=call --program=bench/vm/internal_call/lua.lua --arguments=25 --units=242785 --answer=75025
//
// It prints one line, {"value": 11.2}: nanoseconds per unit, or bytes for the phase `idle`. With --repeats=N it times
// nothing and runs the work N times inside `measured_region`, where callgrind counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::bench {

// One repeat of the work is: `call`, one call of the export from the host; `load`, bytes to a verified module; `link`,
// modules to a program; `state`, making what an instance of the program keeps; `drop`, giving it back; `idle`, what it
// weighs.
enum class Phase { call, load, link, state, drop, idle };

struct Work {
  Phase phase = Phase::call;
  std::string question;  // names the function where a contender has all of them in one binary
  std::string program;   // path of the contender's version
  std::vector<int32_t> arguments;
  bool has_result = false;
};

class Contender {
 public:
  virtual ~Contender() = default;
  virtual void prepare(const Work& work) = 0;  // everything that is not timed; ends the process on failure
  // Does the work `count` times and returns what the last call returned, or 0.
  virtual double repeat(const Work& work, uint64_t count) = 0;
  // Around a repeat of `state` or `drop`, not timed: make what is to be dropped, drop what was made.
  virtual void before(const Work&, uint64_t) {}
  virtual void after() {}
};

// Ends the process with one sentence on standard error.
[[noreturn]] void fail(const std::string& sentence);

std::string read_file(const std::string& path);

// The `main` of every contender.
int run_contender(int argc, char** argv, Contender& contender);

}  // namespace baton::bench
