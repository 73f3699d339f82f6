// A module with custom commands over the kernels of the conformance suite. What it did stands in a log that the test
// reads.
#pragma once

#include <string>
#include <vector>

#include "modules/sdk/module.hpp"

namespace baton::modules {

// For one test at a time.
struct MathLog {
  std::vector<std::string> lines;
  int refusals = 0;  // how many prepares fail
  sdk::Ref<sdk::CommandBuffer> kept;
};
inline MathLog math_log;

class Math final : public sdk::Module<Math> {
 public:
  Status prepare(Device& device) {
    math_log.lines.push_back("prepare " + std::string(device.name()));
    if (math_log.refusals > 0 && math_log.refusals--) {
      return sdk::failure(StatusCode::kResourceExhausted, "No room for kernels.");
    }
    BATON_ASSIGN_OR_RETURN(Ref<sdk::Executable> code, device.lookup_executable("host.kernels"));
    BATON_ASSIGN_OR_RETURN(const uint32_t scale, code->entry_point("scale"));
    kernels_.add(device, {std::move(code), scale});
    return {};
  }

  // y = factor * x + y, through `scaled`: a copy, a dispatch, a host part.
  Status saxpy(CommandBuffer& rec, uint32_t factor, Binding<const uint32_t> x, Binding<uint32_t> y,
               Binding<uint32_t> scaled) {
    math_log.lines.push_back("saxpy");
    const Kernels& kernels = kernels_[rec.device()];
    const auto n = static_cast<uint32_t>(x.size());
    BATON_OR_RETURN(rec.copy(x, scaled));
    BATON_OR_RETURN(rec.barrier());
    BATON_OR_RETURN(rec.dispatch(*kernels.code, kernels.scale, {(n + 63) / 64}, sdk::constants(n, factor), {scaled}));
    BATON_OR_RETURN(rec.barrier());
    const auto add = [](std::span<const uint32_t> from, std::span<uint32_t> to) {
      for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    return rec.host(add, Binding<const uint32_t>(scaled), y);
  }

  // The other verbs: x = 7 7 ..., its first elements 1 2 3, then scaled over the grid that `grid` holds.
  Status verbs(CommandBuffer& rec, Binding<uint32_t> x, Binding<const uint32_t> grid) {
    BATON_OR_RETURN(rec.fill(x, 7u));
    BATON_OR_RETURN(rec.barrier());
    const uint32_t first[] = {1, 2, 3};
    BATON_OR_RETURN(rec.update(x, std::span<const uint32_t>(first)));
    BATON_OR_RETURN(rec.barrier());
    const Kernels& kernels = kernels_[rec.device()];
    const auto n = static_cast<uint32_t>(x.size());
    return rec.dispatch_indirect(*kernels.code, kernels.scale, grid, sdk::constants(n, 10u), {x});
  }

  Status keep(CommandBuffer& rec) {
    math_log.kept = Ref<CommandBuffer>(&rec);
    return rec.barrier();
  }
  Status use_kept() { return math_log.kept->barrier(); }

  Status fail_later(CommandBuffer& rec) {
    return rec.host("worrier", [] { return sdk::failure(StatusCode::kDataLoss, "The numbers are gone."); });
  }
  Status overrun(CommandBuffer& rec, Binding<uint32_t> x) { return rec.fill(x.subspan(0, x.size() + 1), 0u); }
  Status on_cuda(CommandBuffer& rec) {
    math_log.lines.push_back(rec.is<sdk::Cuda>() ? "is cuda" : "is not cuda");
    auto stream = rec.cuda().stream();
    if (!stream) return std::move(stream).error();
    math_log.lines.push_back(stream->stream == &math_log ? "has its stream" : "has another stream");
    return {};
  }
#if defined(__cpp_exceptions)
  Status throw_now(CommandBuffer&) { throw "no std::exception"; }
  Status throw_later(CommandBuffer& rec) {
    return rec.host([] { throw 5; });
  }
#endif

 private:
  struct Kernels {
    Ref<sdk::Executable> code;
    uint32_t scale;
  };
  PerDevice<Kernels> kernels_;
};

}  // namespace baton::modules
