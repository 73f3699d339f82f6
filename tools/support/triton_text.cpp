#include "tools/support/triton_text.hpp"

#include <numeric>

namespace baton::tools {
namespace {

using modules::TritonKernel;

constexpr std::string_view kPointerLike = "*";

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    parts.push_back(list.substr(0, comma));
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

// How many pointers come first. Later ones cannot be bindings of a program.
Result<size_t> leading_pointers(const TritonKernel& kernel, std::string_view signature) {
  const std::vector<std::string_view> types = split(signature);
  if (!types.empty()) BATON_TRY(check_signature(kernel, types));
  const auto is_pointer = [&](size_t i) {
    return types.empty() ? kernel.parameters[i].bytes == 8 : types[i].starts_with(kPointerLike);
  };
  size_t count = 0;
  while (count < kernel.parameters.size() && is_pointer(count)) ++count;
  for (size_t i = count; i < kernel.parameters.size(); ++i) {
    if (!is_pointer(i)) continue;
    return failure(StatusCode::kUnimplemented, "Argument ", i, " of kernel '", kernel.name, "' ",
                   types.empty() ? "has 8 bytes and may be a pointer" : "is a pointer",
                   " behind a number; in a program pointers come first. KernelLibrary::load_triton takes any order",
                   types.empty() ? ", and --signature= tells numbers from pointers." : ".");
  }
  return count;
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

Result<std::string> triton_executable(const TritonKernel& kernel, std::string_view signature, std::string_view path) {
  BATON_TRY_ASSIGN(const size_t pointers, leading_pointers(kernel, signature));
  const modules::KernelDefaults& launch = kernel.launch;
  if (scratch_of(launch) != 0) {
    return failure(
        StatusCode::kUnimplemented, "Kernel '", kernel.name, "' wants ", scratch_of(launch),
        " bytes of scratch memory for each workgroup, which dispatches of programs do not give yet; a custom "
        "command that records it by KernelLibrary::load_triton does.");
  }
  size_t words = 2 * launch.hidden_pointers;
  for (size_t i = pointers; i < kernel.parameters.size(); ++i) words += (kernel.parameters[i].bytes + 3) / 4;
  std::string bindings;
  for (size_t i = 0; i < pointers; ++i) {
    bindings += text(i == 0 ? "\n  " : ",\n  ", "#hal.pipeline.binding<storage_buffer>");
  }
  std::string attributes = text("workgroup_size = [", launch.block, " : index, 1 : index, 1 : index]");
  if (launch.shared_bytes) attributes += text(", workgroup_local_memory = ", launch.shared_bytes, " : index");
  if (launch.cluster > 1) attributes += text(", cluster_size = [", launch.cluster, " : index, 1 : index, 1 : index]");
  if (launch.cooperative) attributes += ", cooperative";
  if (launch.early) attributes += ", early";
  return text(
      "// Made by baton-import-triton from ", path, ". A dispatch names a grid of programs and passes ", words,
      " words of numbers, then\n// ", pointers, " tensors; the last ", 2 * launch.hidden_pointers,
      " words are the scratch pointers, and are zero:\n//   flow.dispatch @", kernel.name, "::@", kernel.name,
      "[%programs](...)\n#target = #hal.executable.target<\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_",
      kernel.arch, "\"}>\n\n#layout = #hal.pipeline.layout<constants = ", words, ", bindings = [", bindings,
      "\n]>\n\nhal.executable.source private @", kernel.name,
      " attributes {\n  objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = \"", path,
      "\"}>]}>\n} {\n  hal.executable.export public @", kernel.name,
      " ordinal(0) layout(#layout)\n      count(%device: !hal.device, %programs: index) -> (index, index, index) "
      "{\n    %one = arith.constant 1 : index\n",
      launch.cluster > 1 ? text("    %cluster = arith.constant ", launch.cluster,
                                " : index\n    %workgroups = arith.muli %programs, %cluster : index\n")
                         : std::string(),
      "    hal.return ", launch.cluster > 1 ? "%workgroups" : "%programs",
      ", %one, %one : index, index, index\n  } attributes {", attributes, "}\n}\n");
}

}  // namespace baton::tools
