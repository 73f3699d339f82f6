// The module "gpt": what a model's step records between generated kernels. `append` puts keys and values where sequences end, at
// positions that only the device knows, so that a step is recorded once; `sample` chooses tokens; `product_int8` multiplies by
// weights of one byte.
#include "kernels_elf.hpp"
#include "kernels_ptx.hpp"
#include "modules/sdk/module.hpp"
#include "sampling.h"
#if __has_include("kernels_spv.hpp")  // Where GLSL can be compiled.
#include "kernels_spv.hpp"
#endif

namespace {

using namespace baton::sdk;

class Gpt final : public Module<Gpt> {
 public:
  Status prepare(Device& device) {
    const ExecutableVariant variants[] = {
      {"embedded-elf-x86_64", std::as_bytes(std::span(kernels_x86_64))},
      {"embedded-elf-aarch64", std::as_bytes(std::span(kernels_aarch64))},
#if __has_include("kernels_spv.hpp")
      {"spirv", std::as_bytes(std::span(kernels_spv))},
#endif
      {"cuda-ptx-compute_75", std::as_bytes(std::span(kernels_sm_75))}
    };
    const EntryPoint entry_points[] = {{.name = "append", .workgroup_size = {kAppendedWords, 1, 1}},
                                       {.name = "sample", .workgroup_size = {256, 1, 1}},
                                       {.name = "product_int8", .workgroup_size = {256, 1, 1}}};
    BATON_ASSIGN_OR_RETURN(Ref<Executable> code, device.make_executable("gpt", variants, {}, entry_points));
    BATON_ASSIGN_OR_RETURN(const uint32_t append, code->entry_point("append"));
    BATON_ASSIGN_OR_RETURN(const uint32_t sample, code->entry_point("sample"));
    BATON_ASSIGN_OR_RETURN(const uint32_t product, code->entry_point("product_int8"));
    kernels_.add(device, {std::move(code), append, sample, product});
    return {};
  }

  // cache[slots[b], positions[b] + t] = update[b, t]; a token is a row of so many bytes, a slot has room for `context` of them.
  Status append(CommandBuffer& rec, Binding<std::byte> cache, Binding<const std::byte> update,
                Binding<const int32_t> slots, Binding<const int32_t> positions, int32_t context, int32_t row_bytes) {
    const size_t row = row_bytes > 0 && row_bytes % 4 == 0 ? static_cast<size_t>(row_bytes) : 0;
    if (context < 1 || row == 0 || slots.size() == 0 || slots.size() != positions.size() ||
        cache.size() % (context * row) != 0 || update.size() % (slots.size() * row) != 0) {
      return failure(StatusCode::kInvalidArgument, "append puts ", update.size(), " bytes, rows of ", row_bytes, " of ",
                     slots.size(), " sequences with ", positions.size(), " positions, into ", cache.size(),
                     ", slots of ", context, " rows.");
    }
    const Kernels& kernels = kernels_[rec.device()];
    const auto tokens = static_cast<uint32_t>(update.size() / row);
    const auto steps = static_cast<uint32_t>(tokens / slots.size());
    const auto slot_count = static_cast<uint32_t>(cache.size() / row / context);
    const auto words = static_cast<uint32_t>(row / 4);
    return rec.dispatch(*kernels.code, kernels.append, Grid{tokens, (words + kAppendedWords - 1) / kAppendedWords},
                        constants(steps, static_cast<uint32_t>(context), words, slot_count),
                        {cache, update, slots, positions});
  }

  // tokens[b] for the logits of sequence b. The settings of one are temperature, top-k, top-p, seed; the position is what
  // random numbers differ by. Weights are room to work in.
  Status sample(CommandBuffer& rec, Binding<const float> logits, Binding<const float> settings,
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

  // product[r, o] = scales[o] * the sum over i of x[r, i] * weights[o, i].
  Status product_int8(CommandBuffer& rec, Binding<const float> x, Binding<const int8_t> weights,
                      Binding<const float> scales, Binding<float> product) {
    const size_t outer = scales.size(), inner = outer == 0 ? 0 : weights.size() / outer;
    if (inner == 0 || inner % 4 != 0 || weights.size() % outer != 0 || x.size() == 0 || x.size() % inner != 0 ||
        product.size() != x.size() / inner * outer) {
      return failure(StatusCode::kInvalidArgument, "product_int8 makes ", product.size(), " numbers of ", x.size(),
                     " and ", weights.size(), " weights with ", outer, " scales, and takes weights by fours.");
    }
    const Kernels& kernels = kernels_[rec.device()];
    return rec.dispatch(
        *kernels.code, kernels.product_int8, Grid{static_cast<uint32_t>((outer + 15) / 16)},
        constants(static_cast<uint32_t>(x.size() / inner), static_cast<uint32_t>(inner), static_cast<uint32_t>(outer)),
        {x, weights, scales, product});
  }

 private:
  struct Kernels {
    Ref<Executable> code;
    uint32_t append;
    uint32_t sample;
    uint32_t product_int8;
  };
  PerDevice<Kernels> kernels_;
};

}  // namespace

BATON_EXPORT_MODULE(Gpt, "gpt",                                                      //
                    BATON_COMMAND("append", &Gpt::append, kCaptureSafe | kInPlace),  //
                    BATON_COMMAND("sample", &Gpt::sample, kCaptureSafe),             //
                    BATON_COMMAND("product_int8", &Gpt::product_int8, kCaptureSafe));
