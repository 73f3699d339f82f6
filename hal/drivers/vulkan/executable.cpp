#include "hal/drivers/vulkan/executable.hpp"

#include <algorithm>

#include "hal/drivers/vulkan/linked_functions.hpp"
#include "hal/drivers/vulkan/spirv_features.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

Result<const SpirvEntryPoint*> find_entry(const SpirvModule& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (const SpirvEntryPoint& entry : module.entry_points) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return no_entry_point("The code", name, names);
}

// For who pushes the addresses of buffers one by one.
std::string_view where_addresses_come(const SpirvEntryPoint& found) {
  for (const SpirvMember& member : found.push_members) {
    if (!member.is_address) continue;
    return " It has addresses among its push constants: Baton gives it those of buffers in a record, whose address is "
           "the only push constant, or as storage buffers.";
  }
  return "";
}

// What code by descriptors reads must be what the program passes; more may be passed than is read.
Status check_layout(const SpirvEntryPoint& found, const EntryPoint& expected) {
  // Who launches it says its workgroup, or says nothing: 1, or 0.
  const uint32_t(&wanted)[3] = expected.workgroup_size;
  const bool unsaid = wanted[0] <= 1 && wanted[1] <= 1 && wanted[2] <= 1;
  if (!unsaid && !std::equal(std::begin(wanted), std::end(wanted), std::begin(found.workgroup_size))) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", found.name, "' has workgroups of ",
                   found.workgroup_size[0], "x", found.workgroup_size[1], "x", found.workgroup_size[2],
                   "; it is launched with ", wanted[0], "x", wanted[1], "x", wanted[2], ".");
  }
  if (found.by_address || !expected.layout_known) return {};
  const uint32_t constants = found.push_bytes / 4;
  const bool are_placed = !expected.parameters.empty();  // Told one by one: place_arguments() looks at them.
  if (found.binding_count <= expected.binding_count && (are_placed || constants <= expected.constant_count)) return {};
  return failure(StatusCode::kInvalidArgument, "Kernel '", found.name, "' reads ", found.binding_count,
                 " bindings and ", constants, " constants; the program passes ", expected.binding_count,
                 " bindings and ", expected.constant_count, " constants.", where_addresses_come(found));
}

// Which members of the block one argument fills: one of its size, or several that lie as in a struct of its size; a small
// number fills a word. Returns the one behind them; null: it fits none.
const SpirvMember* filled(std::span<const SpirvMember> members, uint32_t bytes) {
  if (members.empty()) return nullptr;
  const uint32_t begin = members[0].place;
  const SpirvMember* const end = members.data() + members.size();
  for (const SpirvMember* last = members.data(); last != end; ++last) {
    const uint32_t least = last->place + last->bytes - begin;
    const uint32_t most = last + 1 == end ? least + 15 : last[1].place - begin;  // A struct may end in unused bytes.
    if (bytes == least || (last != members.data() && bytes > least && bytes <= most)) return last + 1;
  }
  return bytes < sizeof(uint32_t) && members[0].bytes == sizeof(uint32_t) ? members.data() + 1 : nullptr;
}

// The members that arguments fill, by their places in the constants. By address those of the record behind the pointers and
// lengths of `bindings`; empty: the shader does not say them.
std::vector<SpirvMember> members_for_arguments(const SpirvEntryPoint& found, uint32_t bindings) {
  if (!found.by_address) return found.push_members;
  std::vector<SpirvMember> members;
  const uint32_t begin = 16 * bindings;
  for (SpirvMember member : found.record_members) {
    if (member.place < begin) continue;
    if (member.bytes == 0) return {};
    member.place -= begin;
    members.push_back(member);
  }
  return members;
}

// Gives each argument that is no binding its place in the block of push constants, whose members have sizes and
// alignments of their own; by address in the record.
Status place_arguments(const SpirvEntryPoint& found, EntryPoint& entry) {
  const std::vector<SpirvMember> members = members_for_arguments(found, entry.binding_count);
  if (members.empty()) return {};  // Words, or nothing reads them: compilers take out what a shader does not need.
  const std::string_view what = found.by_address ? "constant of the record" : "push constant";
  std::span<const SpirvMember> left = members;
  uint32_t bytes = found.by_address ? 0 : found.push_bytes;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    KernelParameter& parameter = entry.parameters[i];
    if (parameter.is_binding) continue;
    const SpirvMember* behind = filled(left, parameter.bytes);
    if (!behind) {
      return failure(StatusCode::kInvalidArgument, "Argument ", i, " of kernel '", found.name, "' has ",
                     parameter.bytes, " bytes, and ",
                     left.empty() ? text("there is no ", what, " left.")
                                  : text("the ", what, " at byte ", left[0].place, " has ", left[0].bytes, "."),
                     where_addresses_come(found));
    }
    parameter.place = static_cast<uint16_t>(left[0].place);
    bytes = std::max(bytes, (left[0].place + parameter.bytes + 3) / 4 * 4);
    left = {behind, left.data() + left.size()};
  }
  // A record may end with the count of workgroups.
  const bool may_be_left = found.by_address && left.size() == 1 && left[0].bytes == sizeof(uint32_t);
  if (!left.empty() && !may_be_left) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", found.name, "' has a ", what, " of ", left[0].bytes,
                   " bytes at byte ", left[0].place, ", for which there is no argument.", where_addresses_come(found));
  }
  entry.constant_count = bytes / 4;
  entry.places_known = true;
  return {};
}

}  // namespace

bool is_spirv_format(std::string_view format) { return format == "vulkan-spirv-fb" || format == "spirv"; }

Status Executable::adopt(const SpirvModule& module, const SpirvEntryPoint& found, const EntryPoint* expected,
                         const Pipeline::Request& whole) {
  SpirvEntryPoint laid_out = found;
  EntryPoint entry;
  if (expected) {
    BATON_TRY(check_layout(found, *expected));
    entry = *expected;
    if (!entry.parameters.empty()) BATON_TRY(place_arguments(found, entry));
  }
  const bool told = expected && expected->layout_known;
  entry.name = expected ? expected->name : found.name;
  entry.layout_known = told || !found.by_address;
  if (told) {
    if (!found.by_address) laid_out.binding_count = expected->binding_count;
    if (!found.by_address) laid_out.push_bytes = entry.constant_count * 4;
    if (!found.by_address && !entry.parameters.empty() && found.push_bytes == 0) laid_out.push_bytes = 0;
  } else {
    entry.binding_count = found.binding_count;
    entry.constant_count = found.by_address ? 0 : found.push_bytes / 4;
  }
  std::copy(std::begin(found.workgroup_size), std::end(found.workgroup_size), entry.workgroup_size);
  entry.local_memory_bytes = static_cast<uint32_t>(std::min<uint64_t>(found.shared_bytes, ~uint32_t{0}));
  BATON_TRY(check_float_modes(found, context_->facts()));
  BATON_TRY(check_limits(laid_out, context_->facts()));
  Pipeline::Request request = whole;
  request.entry_point = found.name;
  request.function = module.entry_points.size() > 1 ? found.function : 0;
  request.by_address = found.by_address;
  request.folds_grid = found.folds_grid;
  request.binding_count = laid_out.binding_count;
  request.push_bytes = laid_out.push_bytes;
  request.small_elements = found.small_elements;
  if (found.hands_over) BATON_TRY(check_subgroups_are_whole(found, context_->facts()));
  request.whole_subgroups = found.hands_over;
  BATON_TRY_ASSIGN(request.subgroup_size,
                   required_subgroup_size(laid_out, entry.launch.subgroup_size, context_->facts()));
  BATON_TRY_ASSIGN(Ref<Pipeline> pipeline, Pipeline::make(context_, std::move(request)));
  pipelines_.push_back(std::move(pipeline));
  entry_points_.push_back(std::move(entry));
  return {};
}

Status Executable::access_refused(uint32_t entry_point, const FailedAccess& failed) const {
  const bool is_known = failed.number <= access_checks_.size();
  const AccessCheck check = is_known ? access_checks_[failed.number - 1] : AccessCheck{"accesses memory", ""};
  return hal::access_refused({entry_points()[entry_point].name, name(), check.access, check.line, failed});
}

Result<Ref<hal::Executable>> Executable::make(Ref<Context> context, const void* device,
                                              const ExecutableRequest& request, const ExecutableVariant& variant,
                                              std::span<const DeviceFunctions> functions) {
  BATON_TRY(context->check());
  BATON_TRY_ASSIGN(const std::vector<std::byte> linked, link_functions(variant.data, functions));
  const std::span<const std::byte> code = linked.empty() ? variant.data : std::span(linked);
  BATON_TRY_ASSIGN(SpirvModule module, read_spirv(code, request.constants));
  BATON_TRY(check_features(module, context->facts()));
  auto executable = make_ref<Executable>(std::move(context), request, device);
  executable->access_checks_ = std::move(module.access_checks);
  const Pipeline::Request whole{.code =
                                    std::make_shared<const PipelineCode>(code, request.constants, module.specialized)};
  if (request.expected.empty()) {
    for (const SpirvEntryPoint& entry : module.entry_points) {
      BATON_TRY(executable->adopt(module, entry, nullptr, whole));
    }
    return Ref<hal::Executable>(std::move(executable));
  }
  for (const EntryPoint& expected : request.expected) {
    BATON_TRY_ASSIGN(const SpirvEntryPoint* found, find_entry(module, expected.name));
    BATON_TRY(executable->adopt(module, *found, &expected, whole));
  }
  return Ref<hal::Executable>(std::move(executable));
}

}  // namespace baton::hal::drivers::vulkan
