#include "tools/benchmark/session.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>

#include "base/json_text.hpp"
#include "tools/benchmark/reporter.hpp"
#include "tools/benchmark/verdict.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

constexpr std::string_view kFlag = "--benchmark_";

bool is_google(std::string_view argument) {
  std::string plain(argument.substr(0, kFlag.size()));
  for (char& letter : plain) letter = letter == '-' ? '_' : letter;
  return plain == "__benchmark_";
}

bool says_format(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    if (flag.starts_with("--benchmark_format=") && flag != "--benchmark_format=console") return true;
  }
  return false;
}

}  // namespace

std::vector<char*> Session::take_flags(int argc, char** argv) {
  // In turn and not one after the other, so that repetitions feel all that the machine does meanwhile.
  flags_ = {argv[0], "--benchmark_repetitions=7", "--benchmark_min_time=0.05",
            "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> ours;
  for (int i = 0; i < argc; ++i) {
    if (i > 0 && is_google(argv[i])) {
      flags_.emplace_back(argv[i]);
    } else {
      ours.push_back(argv[i]);
    }
  }
  return ours;
}

void Session::keep_order() { flags_.emplace_back("--benchmark_enable_random_interleaving=false"); }

void Session::note(const std::string& name, const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += text(all.empty() ? "" : " ", value);
  conditions_[name] = as_utf8(all);  // It goes into the JSON.
}

Status Session::begin(const std::string& compare, const std::string& fail_on) {
  compares_ = !compare.empty();
  fail_on_ = fail_on;
  if (!compares_ && fail_on != "never") {
    return failure(StatusCode::kInvalidArgument, "--fail_on=", fail_on,
                   " needs --compare=: nothing is slower than nothing");
  }
  if (compares_) {
    BATON_TRY_ASSIGN(const std::vector<std::byte> json, read_file(compare));
    BATON_TRY_ASSIGN(before_, read_samples(text_of(json), compare));
    if (const std::string other = first_difference(read_conditions(text_of(json)), conditions_); !other.empty()) {
      return failure(StatusCode::kInvalidArgument, "'", compare,
                     "' cannot be compared with: it was measured with other ", other);
    }
  }
  for (const auto& [name, value] : conditions_) benchmark::AddCustomContext(text(kConditionPrefix, name), value);
  std::vector<char*> arguments;
  for (std::string& flag : flags_) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) return failure(StatusCode::kInvalidArgument, "Google Benchmark has no flag ", arguments[1]);
  return {};
}

Result<bool> Session::run() {
  const bool for_people = !says_format(flags_);
  Reporter reporter(for_people ? nullptr : benchmark::CreateDefaultDisplayReporter());
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0)
    return failure(StatusCode::kNotFound, "--benchmark_filter= names no benchmark");
  failed_ = reporter.failed();
  BATON_TRY(check_written());
  if (for_people) print(describe_noise(reporter.samples()));
  if (compares_) {
    const std::vector<Difference> differences = compare(before_, reporter.samples());
    const std::string words = describe(differences);
    if (for_people) print(words);
    if (!for_people) std::fputs(words.c_str(), stderr);
    judge(differences);
  }
  return for_people;
}

// Google Benchmark does not look whether its file could be written. Another format than JSON says nothing that shows it.
Status Session::check_written() const {
  constexpr std::string_view kOut = "--benchmark_out=", kOutFormat = "--benchmark_out_format=";
  std::string path;
  bool is_json = true;
  for (const std::string& flag : flags_) {
    if (flag.starts_with(kOut)) path = flag.substr(kOut.size());
    if (flag.starts_with(kOutFormat)) is_json = flag.substr(kOutFormat.size()) == "json";
  }
  if (path.empty() || !is_json || !std::filesystem::is_regular_file(path)) return {};
  BATON_TRY_ASSIGN(const std::vector<std::byte> json, read_file(path));
  if (failed_ || read_samples(text_of(json), path)) return {};
  return failure(StatusCode::kDataLoss, "--benchmark_out=", path, " could not be written whole");
}

void Session::judge(const std::vector<Difference>& differences) {
  if (fail_on_ == "never") return;
  const std::string slower = names_with(differences, Difference::Verdict::kSlower);
  if (!slower.empty()) worse_ = text("slower than before: ", slower);
  const std::string unclear = names_with(differences, Difference::Verdict::kUnclear);
  if (fail_on_ != "unclear" || unclear.empty()) return;
  worse_ += text(worse_.empty() ? "" : "; ", "unclear, because of the noise: ", unclear);
}

Status Session::outcome() const {
  if (failed_) return failure(StatusCode::kAborted, "a benchmark could not go on; its line says why");
  if (!worse_.empty()) return failure(StatusCode::kAborted, worse_);
  return {};
}

}  // namespace baton::tools
