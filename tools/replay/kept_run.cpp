#include "tools/replay/kept_run.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "modules/sdk/version.h"
#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Copies files into the folder, each under a number of its own, and says where they lie in it.
class Keeper {
 public:
  explicit Keeper(fs::path folder) : folder_(std::move(folder)) {}

  Result<std::string> keep(const std::string& path) {
    std::error_code error;
    const fs::path kept = fs::path("files") / text(count_++, "-", fs::path(path).filename().string());
    fs::create_directories(folder_ / "files", error);
    if (!error) fs::copy_file(path, folder_ / kept, fs::copy_options::overwrite_existing, error);
    if (!error) return kept.string();
    return failure(StatusCode::kUnavailable, "'", path, "' cannot be kept in '", folder_.string(), "' (",
                   error.message(), ").");
  }

  // The file that stands at the beginning of `words`, with what follows it: a plugin's entry, an array's name.
  Result<std::string> keep_first(const std::string& words, size_t begin, std::string_view ends) {
    size_t end = words.size();
    while (!fs::is_regular_file(words.substr(begin, end - begin))) {
      end = end == begin ? std::string::npos : words.find_last_of(ends, end - 1);
      if (end == std::string::npos || end <= begin) {
        return failure(StatusCode::kNotFound, "'", words.substr(begin), "' is no file that could be kept.");
      }
    }
    BATON_TRY_ASSIGN(const std::string kept, keep(words.substr(begin, end - begin)));
    return words.substr(0, begin) + kFolderMark + kept + words.substr(end);
  }

  // Stands for the folder in what is kept.
  static constexpr const char* kFolderMark = "{recording}/";

 private:
  fs::path folder_;
  size_t count_ = 0;
};

// Where the file of an --input= begins: behind @, + or *, which may stand behind a type; npos: it names none.
size_t file_of_input(const std::string& input) {
  const size_t value = input.find_first_of("@+*");
  if (value == std::string::npos) return value;
  if (value != 0 && input[value - 1] != '=') return std::string::npos;
  if (input[value] == '+' && value + 1 < input.size() && (std::isdigit(input[value + 1]) || input[value + 1] == '.')) {
    return fs::is_regular_file(input.substr(value + 1)) ? value + 1 : std::string::npos;
  }
  return value + 1;
}

Result<std::vector<std::string>> keep_all(Keeper& keeper, const std::vector<std::string>& words, std::string_view ends,
                                          bool behind_equals) {
  std::vector<std::string> kept;
  for (const std::string& one : words) {
    const size_t equals = behind_equals ? one.find('=') : std::string::npos;
    BATON_TRY_ASSIGN(std::string copy, keeper.keep_first(one, equals == std::string::npos ? 0 : equals + 1, ends));
    kept.push_back(std::move(copy));
  }
  return kept;
}

Result<std::vector<std::string>> keep_inputs(Keeper& keeper, const std::vector<std::string>& inputs) {
  std::vector<std::string> kept;
  for (const std::string& input : inputs) {
    const size_t file = file_of_input(input);
    if (file == std::string::npos) {
      kept.push_back(input);
    } else {
      BATON_TRY_ASSIGN(std::string copy, keeper.keep_first(input, file, ":"));
      kept.push_back(std::move(copy));
    }
  }
  return kept;
}

// A mark in place of what JSON cannot hold would be another name when the run is replayed.
Status check_text(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (!is_utf8(word))
      return failure(StatusCode::kInvalidArgument, "'", word, "' is not UTF-8, which run.json of a recording is.");
  }
  return {};
}

std::string with_folder(std::string words, const std::string& folder) {
  const std::string mark = Keeper::kFolderMark;
  if (const size_t at = words.find(mark); at != std::string::npos) words.replace(at, mark.size(), folder + "/");
  return words;
}

Result<Json> parse_json(const std::string& words, const std::string& where) {
  Json json = Json::parse(words, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  return failure(StatusCode::kInvalidArgument, where, " is no JSON object.");
}

Result<std::vector<std::string>> texts_in(const Json& json, const char* name, const std::string& folder) {
  std::vector<std::string> found;
  if (!json.contains(name)) return found;
  if (!json[name].is_array()) return failure(StatusCode::kInvalidArgument, "'", name, "' in run.json is no list.");
  for (const Json& one : json[name]) {
    if (!one.is_string()) return failure(StatusCode::kInvalidArgument, "'", name, "' in run.json holds no text.");
    found.push_back(with_folder(one.get<std::string>(), folder));
  }
  return found;
}

std::string text_in(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
}
uint64_t number_in(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_number_unsigned() ? json[name].get<uint64_t>() : 0;
}

}  // namespace

std::string KeptStep::json() const {
  Json snapshots = Json::array();
  for (const Snapshot& write : writes) snapshots.push_back({{"at", write.at}, {"bytes", write.bytes}});
  const Json line = {{"number", number},       {"verb", verb},     {"name", name},
                     {"recording", recording}, {"custom", custom}, {"writes", snapshots}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<KeptStep> KeptStep::parse(const std::string& line) {
  BATON_TRY_ASSIGN(const Json json, parse_json(line, "A line of steps.jsonl"));
  KeptStep step{number_in(json, "number"),  text_in(json, "verb"),   text_in(json, "name"),
                text_in(json, "recording"), text_in(json, "custom"), {}};
  if (!json.contains("writes") || !json["writes"].is_array()) {
    return failure(StatusCode::kInvalidArgument, "Step ", step.number, " in steps.jsonl has no list of writes.");
  }
  for (const Json& write : json["writes"]) step.writes.push_back({number_in(write, "at"), number_in(write, "bytes")});
  return step;
}

Status keep_run(const std::string& folder, const ProgramRun& run) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure(StatusCode::kUnavailable, "'", folder, "' cannot be made (", error.message(), ").");
  Keeper keeper(folder);
  BATON_TRY_ASSIGN(const auto modules, keep_all(keeper, run.modules, "?@", false));
  BATON_TRY_ASSIGN(const auto inputs, keep_inputs(keeper, run.inputs));
  BATON_TRY_ASSIGN(const auto parameters, keep_all(keeper, run.parameters, "", true));
  BATON_TRY_ASSIGN(const auto executables, keep_all(keeper, run.devices.executables, "", true));
  BATON_TRY_ASSIGN(const auto plugins, keep_all(keeper, run.devices.executable_plugins, "?", false));
  for (const auto* words :
       {&modules, &run.functions, &inputs, &parameters, &run.devices.devices, &executables, &plugins}) {
    BATON_TRY(check_text(*words));
  }
  const Json json = {{"baton_recording", kKeptRunVersion},
                     {"version", BATON_VERSION},
                     {"modules", modules},
                     {"functions", run.functions},
                     {"inputs", inputs},
                     {"parameters", parameters},
                     {"devices", run.devices.devices},
                     {"executables", executables},
                     {"executable_plugins", plugins},
                     {"no_native_code", run.devices.no_native_code}};
  return write_file((fs::path(folder) / "run.json").string(), bytes_of(json.dump(2) + "\n"));
}

Result<ProgramRun> load_run(const std::string& folder) {
  BATON_TRY_ASSIGN(const auto bytes, read_file((fs::path(folder) / "run.json").string()));
  BATON_TRY_ASSIGN(const Json json, parse_json(std::string(text_of(bytes)), "run.json"));
  if (const uint64_t version = number_in(json, "baton_recording"); version != kKeptRunVersion) {
    return failure(StatusCode::kUnimplemented, "'", folder, "' is a recording of version ", version,
                   "; this version of Baton replays version ", kKeptRunVersion, ".");
  }
  ProgramRun run;
  BATON_TRY_ASSIGN(run.modules, texts_in(json, "modules", folder));
  BATON_TRY_ASSIGN(run.functions, texts_in(json, "functions", folder));
  BATON_TRY_ASSIGN(run.inputs, texts_in(json, "inputs", folder));
  BATON_TRY_ASSIGN(run.parameters, texts_in(json, "parameters", folder));
  BATON_TRY_ASSIGN(run.devices.devices, texts_in(json, "devices", folder));
  BATON_TRY_ASSIGN(run.devices.executables, texts_in(json, "executables", folder));
  BATON_TRY_ASSIGN(run.devices.executable_plugins, texts_in(json, "executable_plugins", folder));
  run.devices.no_native_code = json.contains("no_native_code") && json["no_native_code"] == true;
  return run;
}

Result<std::vector<KeptStep>> load_steps(const std::string& folder) {
  BATON_TRY_ASSIGN(const auto bytes, read_file((fs::path(folder) / "steps.jsonl").string()));
  std::istringstream lines{std::string(text_of(bytes))};
  std::vector<KeptStep> steps;
  for (std::string line; std::getline(lines, line);) {
    BATON_TRY_ASSIGN(KeptStep step, KeptStep::parse(line));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace baton::tools
