#include "modules/kernel_library/cuda_compiler.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/text.hpp"
#include "hal/device_image.hpp"

namespace baton::modules {
namespace {

// ---- Where the libraries are ----------------------------------------------------------------------------------------

// Newest first: drivers take older code, and code of their own age.
constexpr std::string_view kVersions[] = {".so.13", ".so.12", ".so"};

void add_wheels(const std::filesystem::path& environment, std::vector<std::string>& folders) {
  std::error_code failed;
  for (const auto& python : std::filesystem::directory_iterator(environment / "lib", failed)) {
    const auto nvidia = python.path() / "site-packages" / "nvidia";
    for (const char* wheel : {"cu13", "cuda_nvrtc", "nvjitlink"}) folders.push_back((nvidia / wheel / "lib").string());
  }
}

std::vector<std::string> search_folders() {
  std::vector<std::string> folders;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string told = variable("BATON_CUDA_LIBRARIES"); !told.empty()) folders.push_back(told);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string toolkit = variable(name); !toolkit.empty()) folders.push_back(toolkit + "/lib64");
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string environment = variable(name); !environment.empty()) add_wheels(environment, folders);
  }
  folders.insert(folders.end(), {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"});
  return folders;
}

// The file of a library, or its bare name where only the loader may know it. With BATON_CUDA_LIBRARIES nothing else is
// looked at.
std::string locate(std::string_view stem) {
  const bool only = std::getenv("BATON_CUDA_LIBRARIES") != nullptr;
  for (const std::string& folder : search_folders()) {
    for (const std::string_view version : kVersions) {
      const std::string path = text(folder, "/", stem, version);
      if (::access(path.c_str(), R_OK) == 0) return path;
    }
    if (only) return text(folder, "/", stem, ".so");
  }
  return text(stem, kVersions[0]);
}

// What tells one build of a library from another without opening it, which takes longer than all the rest.
std::string identity_of(const std::string& path) {
  std::error_code failed;
  const std::string real = std::filesystem::canonical(path, failed).string();
  struct stat facts = {};
  if (failed || ::stat(real.c_str(), &facts) != 0) return "";
  return text(real, " ", static_cast<int64_t>(facts.st_size), " ", static_cast<int64_t>(facts.st_mtime));
}

class Library {
 public:
  static Result<Library> open(std::string_view stem, std::string_view what) {
    const std::string path = locate(stem);
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // Stays open: it is made once more at the next call.
    if (handle) return Library(handle);
    return failure(StatusCode::kUnavailable, what, " is not on this machine (", dlerror(),
                   "). It comes with the CUDA toolkit, and by pip install nvidia-cuda-nvrtc nvidia-nvjitlink; "
                   "BATON_CUDA_LIBRARIES says the folder.");
  }
  template <typename Function>
  Status find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function) return {};
    return failure(StatusCode::kUnavailable, "The library has no '", name,
                   "'; it is of another version than those known.");
  }

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

std::vector<const char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  for (const std::string& one : strings) pointers.push_back(one.c_str());
  return pointers;
}

void trim(std::string& log) {
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0' || log.back() == ' ')) log.pop_back();
}

Status check_arch(std::string_view arch) {
  const bool good = arch.size() >= 2 && arch.size() <= 4 && arch.find_first_not_of("0123456789") != 0 &&
                    arch.find_first_not_of("0123456789af") == arch.npos;
  if (good) return {};
  return failure(StatusCode::kInvalidArgument, "'", arch,
                 "' is no architecture to compile for; there are 75, 80, 90, 90a and others.");
}

// Compilers take text that ends with a zero: behind one within it they would see nothing.
Status check_text(std::string_view what, std::string_view name, std::string_view text) {
  const size_t zero = text.find('\0');
  if (zero == text.npos) return {};
  return failure(StatusCode::kInvalidArgument, what, " '", name.substr(0, name.find('\0')), "' has a zero at byte ",
                 zero, ", where its text would end.");
}

Status check_texts(const CompileRequest& request) {
  BATON_TRY(check_text("The name", request.name, request.name));
  BATON_TRY(check_text("Source", request.name, request.source));
  for (const std::string_view option : request.options) BATON_TRY(check_text("Option", option, option));
  for (const SourceHeader& header : request.headers) {
    BATON_TRY(check_text("The name", header.name, header.name));
    BATON_TRY(check_text("Header", header.name, header.text));
  }
  return {};
}

// ---- NVRTC ----------------------------------------------------------------------------------------------------------

using Program = struct NvrtcProgram*;

struct Nvrtc {
  int (*create)(Program*, const char* source, const char* name, int count, const char* const* headers,
                const char* const* names);
  int (*compile)(Program, int count, const char* const* options);
  int (*destroy)(Program*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
  const char* (*error)(int);

  static Result<Nvrtc> open() {
    BATON_TRY_ASSIGN(const Library library, Library::open("libnvrtc", "NVRTC"));
    Nvrtc table{};
    BATON_TRY(library.find("nvrtcCreateProgram", table.create));
    BATON_TRY(library.find("nvrtcCompileProgram", table.compile));
    BATON_TRY(library.find("nvrtcDestroyProgram", table.destroy));
    BATON_TRY(library.find("nvrtcGetProgramLogSize", table.log_size));
    BATON_TRY(library.find("nvrtcGetProgramLog", table.log));
    BATON_TRY(library.find("nvrtcGetCUBINSize", table.cubin_size));
    BATON_TRY(library.find("nvrtcGetCUBIN", table.cubin));
    BATON_TRY(library.find("nvrtcGetErrorString", table.error));
    return table;
  }
};

// That each file which a text includes is one of the headers. NVRTC looks for others in the folder of the source's name,
// and at paths. What an #include says by a macro nobody knows here.
bool includes_headers_alone(std::string_view text, std::span<const SourceHeader> headers) {
  constexpr std::string_view kInclude = "include", kBlanks = " \t";
  for (size_t at = text.find(kInclude); at != text.npos; at = text.find(kInclude, at + 1)) {
    const std::string_view before = text.substr(0, at), behind = text.substr(at + kInclude.size());
    const size_t last = before.find_last_not_of(kBlanks), first = behind.find_first_not_of(kBlanks);
    const char mark = first == behind.npos ? '\0' : behind[first];
    if (mark == '"' || mark == '<') {
      const std::string_view rest = behind.substr(first + 1);
      const std::string_view name = rest.substr(0, rest.find(mark == '<' ? '>' : mark));
      const auto is_it = [name](const SourceHeader& header) { return header.name == name; };
      if (std::none_of(headers.begin(), headers.end(), is_it)) return false;
    } else if (last != before.npos && (before[last] == '#' || before[last] == ':' || before.ends_with("__has_"))) {
      return false;
    }
  }
  return true;
}

bool reads_files(const CompileRequest& request) {
  if (!includes_headers_alone(request.source, request.headers)) return true;
  for (const SourceHeader& header : request.headers) {
    if (!includes_headers_alone(header.text, request.headers)) return true;
  }
  for (const std::string_view option : request.options) {
    for (const std::string_view reading : {"-I", "--include-path", "-include", "--pre-include", "-pch", "--pch",
                                           "-optf", "--options-file", "-use-pch", "--use-pch"}) {
      if (option.starts_with(reading)) return true;
    }
  }
  return false;
}

// Everything that the code depends on, each with its length, so that no two requests have one key; empty: not to be
// kept.
std::string key_of(const CompileRequest& request) {
  const std::string compiler = identity_of(locate("libnvrtc"));
  if (compiler.empty() || reads_files(request)) return "";
  std::string key = "nvrtc 1\n";
  const auto add = [&](std::string_view part) { key += text(part.size(), ":"), key += part; };
  add(compiler);
  add(request.arch);
  add(request.name);
  add(text(request.options.size()));
  for (const std::string_view option : request.options) add(option);
  for (const SourceHeader& header : request.headers) add(header.name), add(header.text);
  add(request.source);
  return key;
}

std::string log_of(const Nvrtc& nvrtc, Program program) {
  size_t size = 0;
  if (nvrtc.log_size(program, &size) != 0 || size == 0) return "";
  std::string log(size, '\0');
  nvrtc.log(program, log.data());
  trim(log);
  return log;
}

Result<std::vector<std::byte>> run_compiler(const CompileRequest& request) {
  BATON_TRY_ASSIGN(const Nvrtc nvrtc, Nvrtc::open());
  std::vector<std::string> options = {text("--gpu-architecture=sm_", request.arch)}, names, texts;
  for (const std::string_view option : request.options) options.emplace_back(option);
  for (const SourceHeader& header : request.headers) {
    names.emplace_back(header.name);
    texts.emplace_back(header.text);
  }
  const std::string source(request.source), name(request.name);
  const std::vector<const char*> header_texts = pointers_to(texts), header_names = pointers_to(names),
                                 flags = pointers_to(options);
  Program program = nullptr;
  const int created = nvrtc.create(&program, source.c_str(), name.c_str(), static_cast<int>(names.size()),
                                   header_texts.data(), header_names.data());
  if (created != 0) {
    return failure(StatusCode::kInternal, "NVRTC takes no source '", name, "': ", nvrtc.error(created), ".");
  }
  const int compiled = nvrtc.compile(program, static_cast<int>(flags.size()), flags.data());
  if (compiled != 0) {
    Status status = failure(StatusCode::kInvalidArgument, "NVRTC does not compile '", name, "' for sm_", request.arch,
                            ": ", nvrtc.error(compiled), ".\n", log_of(nvrtc, program));
    nvrtc.destroy(&program);
    return status;
  }
  size_t size = 0;
  std::vector<std::byte> cubin;
  int got = nvrtc.cubin_size(program, &size);
  cubin.resize(size);
  if (got == 0) got = nvrtc.cubin(program, reinterpret_cast<char*>(cubin.data()));
  nvrtc.destroy(&program);
  if (got == 0 && size != 0) return cubin;
  return failure(StatusCode::kInternal, "NVRTC gives no machine code of '", name, "': ", nvrtc.error(got), ".");
}

// ---- nvJitLink ------------------------------------------------------------------------------------------------------

using Link = struct NvJitLink*;
constexpr int kInputAny = 10;

struct Linker {
  int (*create)(Link*, uint32_t count, const char** options);
  int (*destroy)(Link*);
  int (*add)(Link, int kind, const void* data, size_t size, const char* name);
  int (*complete)(Link);
  int (*log_size)(Link, size_t*);
  int (*log)(Link, char*);
  int (*cubin_size)(Link, size_t*);
  int (*cubin)(Link, void*);

  static Result<Linker> open() {
    BATON_TRY_ASSIGN(const Library library, Library::open("libnvJitLink", "nvJitLink"));
    Linker table{};
    BATON_TRY(library.find("nvJitLinkCreate", table.create));
    BATON_TRY(library.find("nvJitLinkDestroy", table.destroy));
    BATON_TRY(library.find("nvJitLinkAddData", table.add));
    BATON_TRY(library.find("nvJitLinkComplete", table.complete));
    BATON_TRY(library.find("nvJitLinkGetErrorLogSize", table.log_size));
    BATON_TRY(library.find("nvJitLinkGetErrorLog", table.log));
    BATON_TRY(library.find("nvJitLinkGetLinkedCubinSize", table.cubin_size));
    BATON_TRY(library.find("nvJitLinkGetLinkedCubin", table.cubin));
    return table;
  }
};

// What nvJitLinkResult says.
std::string_view link_error(int code) {
  constexpr std::string_view kErrors[] = {"",
                                          "an option that it does not know",
                                          "no architecture",
                                          "input that it cannot read: it was cut off or damaged",
                                          "the PTX does not compile",
                                          "the LTO-IR does not compile: it was damaged, or a newer compiler made it",
                                          "its parts do not fit together, or a fault of its own",
                                          "its threads",
                                          "input of no kind that it knows",
                                          "the machine code was not completed",
                                          "nothing as input",
                                          "options that exclude each other",
                                          "input of another kind",
                                          "code of another architecture",
                                          "code of a newer compiler",
                                          "an archive or object without device code",
                                          "an architecture that it does not know",
                                          "an architecture that it no longer makes",
                                          "LTO-IR without -lto"};
  return code > 0 && static_cast<size_t>(code) < std::size(kErrors) ? kErrors[code] : "an unknown error";
}
constexpr int kWithoutOptimizing = 18;  // The last of them.

struct Linking {
  const Linker& linker;
  Link link = nullptr;
  int code = 0;  // Of what failed.
};

Status link_failed(Linking& linking, std::string_view what, int code) {
  linking.code = code;
  size_t size = 0;
  std::string log;
  if (linking.linker.log_size(linking.link, &size) == 0 && size != 0) {
    log.resize(size);
    linking.linker.log(linking.link, log.data());
    trim(log);
  }
  return failure(StatusCode::kInvalidArgument, "nvJitLink ", what, ": ", link_error(code), " (", code, ").",
                 log.empty() ? "" : "\n", log);
}

// "'caller.ptx', 'twice.ltoir'".
std::string list_of(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) list += text(list.empty() ? "'" : ", '", name, "'");
  return list;
}

Result<std::vector<std::byte>> run_linker(Linking& linking, std::span<const LinkInput> inputs) {
  const Linker& linker = linking.linker;
  Link link = linking.link;
  // nvJitLink reads the names as late as in complete(), for its log, and does not document how long it reads the bytes.
  std::vector<std::string> names, texts;
  names.reserve(inputs.size());
  texts.reserve(inputs.size());
  for (const LinkInput& input : inputs) {
    const std::string& name = names.emplace_back(input.name);
    // PTX is text that ends with a zero.
    const std::string& bytes =
        texts.emplace_back(reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size());
    const bool is_text = bytes.find(".version") < 4096 && bytes.find('\0') == bytes.npos;
    const int added = linker.add(link, kInputAny, bytes.c_str(), bytes.size() + (is_text ? 1 : 0), name.c_str());
    if (added != 0) return link_failed(linking, text("does not take '", name, "'"), added);
  }
  if (const int code = linker.complete(link); code != 0) {
    return link_failed(linking, text("does not link ", list_of(names)), code);
  }
  size_t size = 0;
  int got = linker.cubin_size(link, &size);
  std::vector<std::byte> cubin(size);
  if (got == 0) got = linker.cubin(link, cubin.data());
  if (got != 0 || size == 0) return link_failed(linking, "gives no machine code", got);
  return cubin;
}

struct Linked {
  Result<std::vector<std::byte>> cubin;
  int code = 0;  // nvJitLink's, of what failed.
};

Linked link_with(const Linker& linker, std::string_view arch, const std::vector<std::string>& flags,
                 std::span<const LinkInput> inputs) {
  std::vector<const char*> list = pointers_to(flags);
  Linking linking{linker};
  const int created = linker.create(&linking.link, static_cast<uint32_t>(list.size()), list.data());
  if (created != 0) {
    return {failure(StatusCode::kInvalidArgument, "nvJitLink takes no options for sm_", arch, ": ", link_error(created),
                    " (", created, ").")};
  }
  auto cubin = run_linker(linking, inputs);
  linker.destroy(&linking.link);
  return {std::move(cubin), linking.code};
}

}  // namespace

Result<std::vector<std::byte>> compile_cuda(const CompileRequest& request, const CodeCache& cache) {
  BATON_TRY(check_arch(request.arch));
  BATON_TRY(check_texts(request));
  const std::string key = key_of(request);
  if (!key.empty()) {
    if (auto known = cache.find(key)) return std::move(*known);
  }
  BATON_TRY_ASSIGN(std::vector<std::byte> cubin, run_compiler(request));
  if (!key.empty()) cache.store(key, cubin);
  return cubin;
}

Result<std::vector<std::byte>> link_cuda(std::string_view arch, std::span<const LinkInput> inputs,
                                         std::span<const std::string_view> options) {
  BATON_TRY(check_arch(arch));
  if (inputs.empty()) return failure(StatusCode::kInvalidArgument, "There is nothing to link.");
  for (const LinkInput& input : inputs) {
    BATON_TRY_CONTEXT(hal::check_device_image(input.bytes), "while linking '", input.name, "'");
  }
  BATON_TRY_ASSIGN(const Linker linker, Linker::open());
  std::vector<std::string> flags = {text("-arch=sm_", arch)};
  for (const std::string_view option : options) flags.emplace_back(option);
  Linked plain = link_with(linker, arch, flags, inputs);
  if (plain.cubin) return std::move(plain.cubin);
  // LTO-IR is refused without it, wherever it hides, and other code may be with it. What is wrong with LTO-IR is told where
  // it may be used.
  flags.emplace_back("-lto");
  Linked optimized = link_with(linker, arch, flags, inputs);
  return optimized.cubin || plain.code == kWithoutOptimizing ? std::move(optimized.cubin) : std::move(plain.cubin);
}

}  // namespace baton::modules
