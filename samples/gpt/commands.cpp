// The module "gpt": what a model's step records between generated kernels. `append` puts keys and values where sequences end, at
// positions that only the device knows, so that a step is recorded once; `sample` chooses tokens.
#include "kernels_elf.hpp"
#include "kernels_ptx.hpp"
#include "modules/sdk/module.hpp"
#if __has_include("kernels_spv.hpp")  // Where GLSL can be compiled.
#include "kernels_spv.hpp"
#endif

namespace {

using namespace baton::sdk;

class Gpt final : public Module<Gpt> {
 public:
  Status prepare(Device& device) {
    const ExecutableVariant variants[] = {{"embedded-elf-x86_64", std::as_bytes(std::span(kernels_x86_64))},
                                          {"embedded-elf-aarch64", std::as_bytes(std::span(kernels_aarch64))},
#if __has_include("kernels_spv.hpp")
                                          {"spirv", std::as_bytes(std::span(kernels_spv))},
#endif
                                          {"cuda-ptx-compute_75", std::as_bytes(std::span(kernels_sm_75))}};
    const EntryPoint entry_points[] = {{.name = "append", .workgroup_size = {64, 1, 1}},
                                       {.name = "sample", .workgroup_size = {256, 1, 1}}};
    BATON_ASSIGN_OR_RETURN(Ref<Executable> code, device.make_executable("gpt", variants, {}, entry_points));
    BATON_ASSIGN_OR_RETURN(const uint32_t append, code->entry_point("append"));
    BATON_ASSIGN_OR_RETURN(const uint32_t sample, code->entry_point("sample"));
    kernels_.add(device, {std::move(code), append, sample});
    return {};
  }

  // cache[slots[b], positions[b] + t] = update[b, t]; a token is `row` numbers, a slot has room for `context` of them.
  Status append(Recording& rec, Binding<float> cache, Binding<const float> update, Binding<const int32_t> slots,
                Binding<const int32_t> positions, int32_t context, int32_t row) {
    if (context < 1 || row < 1 || slots.size() == 0 || slots.size() != positions.size() ||
        cache.size() % (static_cast<size_t>(context) * row) != 0 || update.size() % (slots.size() * row) != 0) {
      return failure(StatusCode::kInvalidArgument, "append puts ", update.size(), " numbers, rows of ", row, " of ",
                     slots.size(), " sequences with ", positions.size(), " positions, into ", cache.size(),
                     ", slots of ", context, " rows.");
    }
    const Kernels& kernels = kernels_[rec.device()];
    const auto tokens = static_cast<uint32_t>(update.size() / row);
    const auto steps = static_cast<uint32_t>(tokens / slots.size());
    const auto slot_count = static_cast<uint32_t>(cache.size() / row / context);
    return rec.dispatch(*kernels.code, kernels.append, Grid{tokens},
                        constants(steps, static_cast<uint32_t>(context), static_cast<uint32_t>(row), slot_count),
                        {cache, update, slots, positions});
  }

  // tokens[b] for the logits of sequence b. The settings of one are temperature, top-k, top-p, seed; the position is what
  // random numbers differ by. Weights are room to work in.
  Status sample(Recording& rec, Binding<const float> logits, Binding<const float> settings,
                Binding<const int32_t> positions, Binding<int32_t> tokens, Binding<float> weights) {
    const size_t batch = tokens.size();
    if (batch == 0 || logits.size() == 0 || logits.size() % batch != 0 || settings.size() != 4 * batch ||
        positions.size() != batch || weights.size() != logits.size()) {
      return failure(StatusCode::kInvalidArgument, "sample chooses ", batch, " tokens from ", logits.size(),
                     " logits by ", settings.size(), " settings at ", positions.size(), " positions with room for ",
                     weights.size(), ".");
    }
    const Kernels& kernels = kernels_[rec.device()];
    return rec.dispatch(*kernels.code, kernels.sample, Grid{static_cast<uint32_t>(batch)},
                        constants(static_cast<uint32_t>(logits.size() / batch)),
                        {logits, settings, positions, tokens, weights});
  }

 private:
  struct Kernels {
    Ref<Executable> code;
    uint32_t append;
    uint32_t sample;
  };
  PerDevice<Kernels> kernels_;
};

}  // namespace

// An import of a program has one type: with a second name a command takes tensors of other shapes.
BATON_EXPORT_MODULE(Gpt, "gpt",                                                             //
                    BATON_COMMAND("append", &Gpt::append, kCaptureSafe | kInPlace),         //
                    BATON_COMMAND("append_prompt", &Gpt::append, kCaptureSafe | kInPlace),  //
                    BATON_COMMAND("sample", &Gpt::sample, kCaptureSafe),                    //
                    BATON_COMMAND("sample_prompt", &Gpt::sample, kCaptureSafe));
