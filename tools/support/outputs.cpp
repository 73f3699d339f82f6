#include "tools/support/outputs.hpp"

#include <set>

#include "base/text.hpp"
#include "bytecode/signature.hpp"
#include "tools/support/files.hpp"
#include "tools/support/numpy.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

using bytecode::SignatureCursor;

// A tensor in a file, in the format that the file's name says.
Status write_tensor(OutputFile& file, std::string_view path, const Tensor& tensor) {
  if (path.ends_with(".txt")) {
    const std::string line =
        describe_tensor(tensor.type.shape, tensor.type.element_type, tensor.bytes, ~uint64_t{0}) + "\n";
    return file.write(bytes_of(line));
  }
  if (path.ends_with(".npy")) BATON_TRY(file.write(bytes_of(npy_header(tensor.type))));
  return file.write(tensor.bytes);
}

}  // namespace

Outputs::Target Outputs::parse_target(std::string_view text) {
  if (text.empty()) return {Target::Kind::kDrop, {}};
  if (text == "-") return {Target::Kind::kPrint, {}};
  if (text.starts_with('+')) return {Target::Kind::kAppend, std::string(text.substr(1))};
  return {Target::Kind::kReplace, std::string(text.substr(text.starts_with('@') ? 1 : 0))};
}

Result<Outputs> Outputs::make(const std::vector<std::string>& targets, std::string_view function,
                              std::string_view signature, bool drop_rest) {
  size_t count = 0;
  for (SignatureCursor at(bytecode::results_of(signature)); at.next();) ++count;
  if (targets.size() > count) {
    return failure(StatusCode::kInvalidArgument, "function '", function, "' is ",
                   bytecode::describe_signature(signature), ": it has ", count, " results, and ", targets.size(),
                   " --output= were given");
  }
  Outputs outputs;
  std::set<std::string, std::less<>> replaced;
  for (const std::string& text : targets) {
    const Target& target = outputs.targets_.emplace_back(parse_target(text));
    if (target.kind != Target::Kind::kReplace || replaced.insert(target.path).second) continue;
    return failure(StatusCode::kInvalidArgument, "--output=", text,
                   " is given for two results, and the second would replace the first");
  }
  const Target rest = parse_target(drop_rest && targets.empty() ? "" : "-");
  outputs.targets_.resize(count, rest);
  return outputs;
}

Status Outputs::write(std::string_view signature, std::span<const vm::Value> results,
                      const TensorValues* tensors) const {
  size_t index = 0;
  for (SignatureCursor at(bytecode::results_of(signature)); at.next(); ++index) {
    const Target& target = targets_[index];
    if (target.kind == Target::Kind::kDrop) continue;
    if (target.kind == Target::Kind::kPrint) {
      BATON_TRY_ASSIGN(const std::string lines, describe_result(index, at.type(), results[index], tensors));
      print(lines);
      continue;
    }
    BATON_TRY_ASSIGN(const std::optional<Tensor> tensor, tensor_of_result(at.type(), results[index], tensors));
    if (!tensor) {
      return failure(StatusCode::kInvalidArgument, "result ", index, " is ", describe_value(at.type(), results[index]),
                     ", which cannot be written to '", target.path, "'");
    }
    BATON_TRY_ASSIGN(OutputFile file, target.kind == Target::Kind::kAppend ? OutputFile::append_to(target.path)
                                                                           : OutputFile::create(target.path));
    BATON_TRY(write_tensor(file, target.path, *tensor));
    BATON_TRY(file.finish());
  }
  return {};
}

}  // namespace baton::tools
