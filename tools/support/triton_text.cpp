#include "tools/support/triton_text.hpp"

#include <algorithm>
#include <numeric>

namespace baton::tools {
namespace {

using modules::TritonKernel;

constexpr std::string_view kPointerLike = "*";
constexpr std::string_view kDescriptor = "tensordesc";
constexpr uint32_t kNumberBytesMax = 8;

// At commas, but not at those of a type: tensordesc<fp16[32, 64]>.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    size_t comma = 0;
    for (int open = 0; comma < list.size() && (open > 0 || list[comma] != ','); ++comma) {
      open += list[comma] == '<' || list[comma] == '[';
      open -= list[comma] == '>' || list[comma] == ']';
    }
    std::string_view part = list.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

// Bytes of a type in Triton's words; 0 for one that is not known.
uint32_t bytes_of_type(std::string_view type) {
  if (type.starts_with(kPointerLike)) return 8;
  for (const auto& [name, bytes] : {std::pair{"i1", 1u},
                                    {"i8", 1u},
                                    {"u8", 1u},
                                    {"i16", 2u},
                                    {"u16", 2u},
                                    {"fp16", 2u},
                                    {"bf16", 2u},
                                    {"i32", 4u},
                                    {"u32", 4u},
                                    {"fp32", 4u},
                                    {"i64", 8u},
                                    {"u64", 8u},
                                    {"fp64", 8u}}) {
    if (type == name) return bytes;
  }
  return 0;
}

Status check_signature(const TritonKernel& kernel, const std::vector<std::string_view>& types) {
  bool fits = types.size() == kernel.parameters.size();
  for (size_t i = 0; fits && i < types.size(); ++i) fits = bytes_of_type(types[i]) == kernel.parameters[i].bytes;
  if (fits) return {};
  std::string sizes;
  for (const auto& one : kernel.parameters) sizes += text(sizes.empty() ? "" : ", ", one.bytes);
  return failure(StatusCode::kInvalidArgument, "Kernel '", kernel.name, "' takes ", kernel.parameters.size(),
                 " arguments of (", sizes, ") bytes; the signature has ", types.size(), " that are not these.");
}

Status no_descriptor(const TritonKernel& kernel, size_t argument, std::string_view what) {
  return failure(StatusCode::kUnimplemented, "Argument ", argument, " of kernel '", kernel.name, "' ", what,
                 " and holds an address that no table of a program fills; KernelLibrary::load_triton takes it from its "
                 "caller.");
}

// Of each parameter, the user's and the hidden ones, whether a binding of a program fills it: the user's pointers, and
// the hidden ones behind which there is memory.
Result<std::vector<bool>> find_bindings(const TritonKernel& kernel, std::string_view signature) {
  const std::vector<std::string_view> types = split(signature);
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].starts_with(kDescriptor)) return no_descriptor(kernel, i, text("is a ", types[i]));
  }
  if (!types.empty()) BATON_TRY(check_signature(kernel, types));
  std::vector<bool> bindings;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const uint32_t bytes = kernel.parameters[i].bytes;
    if (bytes > kNumberBytesMax) {
      return no_descriptor(kernel, i, text("has ", bytes, " bytes, as a tensor's descriptor has,"));
    }
    const bool leads = std::find(bindings.begin(), bindings.end(), false) == bindings.end();
    if (types.empty() && bytes == sizeof(uint64_t) && !leads) {
      return failure(StatusCode::kInvalidArgument, "Argument ", i, " of kernel '", kernel.name,
                     "' has 8 bytes and may be a pointer behind a number; --signature= tells numbers from pointers, in "
                     "Triton's words or by the kernel's .ttir.");
    }
    bindings.push_back(types.empty() ? bytes == sizeof(uint64_t) : types[i].starts_with(kPointerLike));
  }
  for (uint32_t i = 0; i < kernel.launch.hidden_pointers; ++i) bindings.push_back(kernel.launch.scratch_bytes[i] != 0);
  return bindings;
}

// Within the quotes of MLIR.
std::string escaped(std::string_view plain) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string escaped;
  for (const char letter : plain) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= ' ' && letter != '"' && letter != '\\') {
      escaped += letter;
    } else {
      escaped += {'\\', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return escaped;
}

// A kernel as a symbol of MLIR.
std::string symbol_of(std::string_view name) {
  const auto is_plain = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' || letter == '$' ||
           letter == '.' || (letter >= '0' && letter <= '9');
  };
  const bool plain = !name.empty() && (name[0] < '0' || name[0] > '9') && name[0] != '$' && name[0] != '.' &&
                     std::all_of(name.begin(), name.end(), is_plain);
  return plain ? text("@", name) : text("@\"", escaped(name), "\"");
}

// Nothing where bindings come first, as everywhere.
std::string places_of(const std::vector<bool>& bindings) {
  if (std::is_partitioned(bindings.begin(), bindings.end(), [](bool one) { return one; })) return {};
  std::string places;
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i]) places += text(places.empty() ? "" : ", ", i);
  }
  return text(", binding_parameters = [", places, "]");
}

// Words of what is no binding.
size_t words_of(const TritonKernel& kernel, const std::vector<bool>& bindings) {
  size_t words = 0;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const uint32_t bytes = i < kernel.parameters.size() ? kernel.parameters[i].bytes : sizeof(uint64_t);
    if (!bindings[i]) words += (bytes + 3) / 4;
  }
  return words;
}

uint64_t scratch_of(const modules::KernelDefaults& launch) {
  return std::accumulate(std::begin(launch.scratch_bytes), std::end(launch.scratch_bytes), uint64_t{0});
}

}  // namespace

std::string triton_description(const TritonKernel& kernel) {
  std::string sizes;
  for (const auto& one : kernel.parameters) sizes += text(sizes.empty() ? "" : ", ", one.bytes);
  const modules::KernelDefaults& launch = kernel.launch;
  return text("kernel          ", kernel.name, "\ncompiled by     Triton ",
              kernel.version.empty() ? "(version not told)" : kernel.version, ", for sm_", kernel.arch,
              "\narguments       ", kernel.parameters.size(), " of (", sizes, ") bytes\nscratch         ",
              launch.hidden_pointers, " pointers behind them, ", scratch_of(launch),
              " bytes a workgroup\nworkgroup       ", launch.block, " threads, ", launch.shared_bytes,
              " bytes of shared memory, cluster of ", launch.cluster, launch.cooperative ? ", cooperative" : "",
              launch.early ? ", early" : "", "\n");
}

namespace {

// What a dispatch passes, in words.
std::string usage_of(const TritonKernel& kernel, const std::vector<bool>& bindings, std::string_view path,
                     std::string_view extents) {
  const modules::KernelDefaults& launch = kernel.launch;
  const auto tensors = std::count(bindings.begin(), bindings.end(), true);
  std::string usage =
      text("// Made by baton-import-triton from ", escaped(path), ". A dispatch names a grid of programs and passes ",
           words_of(kernel, bindings), " words of numbers, then\n// ", tensors, " tensors");
  const std::span<const uint32_t> scratch(launch.scratch_bytes, launch.hidden_pointers);
  const auto memories = std::count_if(scratch.begin(), scratch.end(), [](uint32_t bytes) { return bytes != 0; });
  const size_t zeros = 2 * (scratch.size() - static_cast<size_t>(memories));
  auto number = tensors - memories;
  std::string_view joint = "; ";
  for (const uint32_t bytes : scratch) {
    if (bytes == 0) continue;
    usage += text(joint, "tensor ", ++number, " is scratch memory, ", uint64_t{bytes} * launch.cluster,
                  " bytes for each program and tied");
    joint = ", ";
  }
  usage += ", in the order of its pointers: a result stands last,\n// what is written before it is tied (-> %x)";
  if (zeros != 0) usage += text("; the last ", zeros, " words are the scratch pointers, and are zero");
  const std::string symbol = symbol_of(kernel.name);
  return text(usage, ":\n//   flow.dispatch ", symbol, "::", symbol, "[", extents, "](...)\n");
}

}  // namespace

Result<std::string> triton_executable(const TritonKernel& kernel, std::string_view signature, std::string_view path,
                                      uint64_t grid_rank) {
  constexpr std::string_view kExtents[] = {"%programs", "%programs_y", "%programs_z"};
  if (grid_rank < 1 || grid_rank > std::size(kExtents)) {
    return failure(StatusCode::kInvalidArgument, "A grid has 1 to 3 extents, and not ", grid_rank, ".");
  }
  BATON_TRY_ASSIGN(const std::vector<bool> is_binding, find_bindings(kernel, signature));
  const modules::KernelDefaults& launch = kernel.launch;
  const std::string symbol = symbol_of(kernel.name);
  const auto count = std::count(is_binding.begin(), is_binding.end(), true);
  std::string bindings, extents, workload, grid = launch.cluster > 1 ? "%workgroups" : "%programs";
  for (ptrdiff_t i = 0; i < count; ++i) {
    bindings += text(i == 0 ? "\n  " : ",\n  ", "#hal.pipeline.binding<storage_buffer>");
  }
  for (uint32_t i = 0; i < std::size(kExtents); ++i) {
    if (i < grid_rank) extents += text(i == 0 ? "" : ", ", kExtents[i]), workload += text(", ", kExtents[i], ": index");
    if (i > 0) grid += text(", ", i < grid_rank ? kExtents[i] : "%one");
  }
  std::string attributes = text("workgroup_size = [", launch.block, " : index, 1 : index, 1 : index]");
  if (launch.shared_bytes) attributes += text(", workgroup_local_memory = ", launch.shared_bytes, " : index");
  if (launch.cluster > 1) attributes += text(", cluster_size = [", launch.cluster, " : index, 1 : index, 1 : index]");
  if (launch.cooperative) attributes += ", cooperative";
  if (launch.early) attributes += ", early";
  attributes += places_of(is_binding);
  return text(usage_of(kernel, is_binding, path, extents),
              "#target = #hal.executable.target<\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_", kernel.arch,
              "\"}>\n\n#layout = #hal.pipeline.layout<constants = ", words_of(kernel, is_binding), ", bindings = [",
              bindings, "\n]>\n\nhal.executable.source private ", symbol,
              " attributes {\n  objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = \"",
              escaped(path), "\"}>]}>\n} {\n  hal.executable.export public ", symbol,
              " ordinal(0) layout(#layout)\n      count(%device: !hal.device", workload,
              ") -> (index, index, index) {\n    %one = arith.constant 1 : index\n",
              launch.cluster > 1 ? text("    %cluster = arith.constant ", launch.cluster,
                                        " : index\n    %workgroups = arith.muli %programs, %cluster : index\n")
                                 : std::string(),
              "    hal.return ", grid, " : index, index, index\n  } attributes {", attributes, "}\n}\n");
}

// ---- .ttir ----------------------------------------------------------------------------------------------------------

namespace {

// The type that `text` begins with, up to what ends it outside of brackets.
std::string_view type_at(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (depth == 0 && std::string_view(" ,){").find(letter) != std::string_view::npos) return text.substr(0, i);
    depth += letter == '<' ? 1 : letter == '>' ? -1 : 0;
  }
  return text;
}

// MLIR's word for a type in Triton's; empty for others.
std::string_view word_of(std::string_view type) {
  if (type.starts_with("!tt.ptr<")) return "*";
  if (type.starts_with("!tt.tensordesc<")) return "tensordesc";
  for (const auto& [mlir, triton] : {std::pair<std::string_view, std::string_view>{"i1", "i1"},
                                     {"i8", "i8"},
                                     {"i16", "i16"},
                                     {"i32", "i32"},
                                     {"i64", "i64"},
                                     {"f16", "fp16"},
                                     {"bf16", "bf16"},
                                     {"f32", "fp32"},
                                     {"f64", "fp64"}}) {
    if (type == mlir) return triton;
  }
  return {};
}

}  // namespace

Result<std::string> triton_signature(std::string_view ttir, std::string_view kernel) {
  const std::string head = text("tt.func public @", kernel, "(");
  const size_t begin = ttir.find(head);
  if (begin == ttir.npos) {
    return failure(StatusCode::kNotFound, "The .ttir has no kernel '", kernel, "'.");
  }
  const size_t end = std::min(ttir.find('\n', begin), ttir.size());
  std::string_view rest = ttir.substr(begin + head.size(), end - begin - head.size());
  std::string signature;
  // Attributes and places behind a type have no '%'.
  for (size_t at = rest.find('%'); at != rest.npos; at = rest.find('%')) {
    rest.remove_prefix(at);
    const size_t colon = rest.find(": ");
    if (colon == rest.npos) break;
    rest.remove_prefix(colon + 2);
    const std::string_view type = type_at(rest), word = word_of(type);
    if (word.empty()) {
      return failure(StatusCode::kUnimplemented, "Kernel '", kernel, "' takes a '", type,
                     "', which is no pointer and no number.");
    }
    signature += text(signature.empty() ? "" : ",", word);
  }
  if (!signature.empty()) return signature;
  return failure(StatusCode::kInvalidArgument, "The .ttir tells of no argument of kernel '", kernel, "'.");
}

}  // namespace baton::tools
