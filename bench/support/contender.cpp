#include "bench/support/contender.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

namespace baton::bench {
namespace {

constexpr double kSampleNs = 1.5e6;  // long against the clock's resolution, short against a scheduler's time slice
constexpr int kSamples = 5;          // per process; the driver takes the median over processes
constexpr uint64_t kIdleCount = 256;
constexpr uint64_t kKeptMax =
    1024;  // states at a time: many to a reading of the clock, few enough for the second cache

struct Options {
  Work work;
  double units = 1;
  double answer = 0;
  uint64_t repeats = 0;
};

// Where callgrind collects (--toggle-collect=measured_region): not inlined, and named without mangling.
extern "C" __attribute__((noinline)) double measured_region(Contender* contender, const Work* work, uint64_t count) {
  return contender->repeat(*work, count);
}

// The thread's own time: contenders never wait, so it is a steady clock without the time that others had the core.
double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double batch_ns(Contender& contender, const Work& work, uint64_t count) {
  contender.before(work, count);
  const double start = thread_ns();
  measured_region(&contender, &work, count);
  const double elapsed = thread_ns() - start;
  contender.after();
  return elapsed;
}

double elapsed_ns(Contender& contender, const Work& work, uint64_t count) {
  const bool keeps = work.phase == Phase::state || work.phase == Phase::drop;
  if (!keeps) return batch_ns(contender, work, count);
  double elapsed = 0;
  for (uint64_t left = count; left > 0; left -= std::min(left, kKeptMax))
    elapsed += batch_ns(contender, work, std::min(left, kKeptMax));
  return elapsed;
}

// Doubles the count until a sample is long enough, then takes the median of a few samples of that count.
double median_ns_per_repeat(Contender& contender, const Work& work) {
  uint64_t count = 1;
  while (elapsed_ns(contender, work, count) < kSampleNs) count *= 2;
  std::array<double, kSamples> samples;
  for (double& sample : samples) sample = elapsed_ns(contender, work, count);
  std::sort(samples.begin(), samples.end());
  return samples[kSamples / 2] / static_cast<double>(count);
}

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0, resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The first one pays for what all share; it is not counted.
double idle_bytes(Contender& contender, const Work& work) {
  contender.repeat(work, 1);
  const uint64_t before = resident_bytes();
  contender.repeat(work, kIdleCount);
  return static_cast<double>(resident_bytes() - before) / static_cast<double>(kIdleCount);
}

Options parse(int argc, char** argv) {
  static const std::map<std::string, Phase> kPhases = {{"call", Phase::call}, {"load", Phase::load},
                                                       {"link", Phase::link}, {"state", Phase::state},
                                                       {"drop", Phase::drop}, {"idle", Phase::idle}};
  Options options;
  CLI::App app("Answers one question of a bench; bench/vm/run.py starts it.");
  app.add_option("--phase", options.work.phase)->transform(CLI::CheckedTransformer(kPhases));
  app.add_option("--question", options.work.question);
  app.add_option("--program", options.work.program);
  app.add_option("--arguments", options.work.arguments)->delimiter(',');
  app.add_option("--units", options.units, "Units of work in one repeat");
  CLI::Option* answer = app.add_option("--answer", options.answer, "What a call must return");
  app.add_option("--repeats", options.repeats, "Run the work this often, untimed, for callgrind");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  options.work.has_result = answer->count() > 0;
  return options;
}

}  // namespace

void fail(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  std::exit(1);
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(fmt::format("The file ({}) cannot be read.", path));
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

int run_contender(int argc, char** argv, Contender& contender) {
  const Options options = parse(argc, argv);
  contender.prepare(options.work);
  if (options.work.phase == Phase::idle) {
    fmt::print("{{\"value\": {:.1f}}}\n", idle_bytes(contender, options.work));
    return 0;
  }
  const double answer = contender.repeat(options.work, 1);
  contender.after();
  if (options.work.has_result && answer != options.answer)
    fail(fmt::format("The answer ({}) differs from the reference ({}).", answer, options.answer));
  if (options.repeats != 0) {
    elapsed_ns(contender, options.work, options.repeats);
    return 0;
  }
  fmt::print("{{\"value\": {:.4f}}}\n", median_ns_per_repeat(contender, options.work) / options.units);
  return 0;
}

}  // namespace baton::bench
