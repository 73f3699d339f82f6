// A module whose functions record into the program's command buffer: saxpy launches a kernel, sum calls the host. The
// same source works on every device that runs one of the kernel's variants.
#include "kernels_elf.hpp"
#include "kernels_ptx.hpp"
#include "modules/sdk/module.hpp"
#if __has_include("kernels_spv.hpp")  // Where GLSL can be compiled.
#include "kernels_spv.hpp"
#endif

namespace {

using namespace baton::sdk;

class Blas final : public Module<Blas> {
 public:
  // Once for each device, before the first command is recorded there.
  Status prepare(Device& device) {
    const ExecutableVariant variants[] = {
      {"embedded-elf-x86_64", std::as_bytes(std::span(kernels_x86_64))},
      {"embedded-elf-aarch64", std::as_bytes(std::span(kernels_aarch64))},
#if __has_include("kernels_spv.hpp")
      {"spirv", std::as_bytes(std::span(kernels_spv))},
#endif
      {"cuda-ptx-compute_75", std::as_bytes(std::span(kernels_sm_75))}
    };
    // Code for a GPU doesn't say how many threads a workgroup has.
    const EntryPoint entry_points[] = {{.name = "saxpy", .workgroup_size = {64, 1, 1}}};
    BATON_ASSIGN_OR_RETURN(Ref<Executable> code, device.make_executable("blas", variants, {}, entry_points));
    BATON_ASSIGN_OR_RETURN(const uint32_t saxpy, code->entry_point("saxpy"));
    kernels_.add(device, {std::move(code), saxpy});
    return {};
  }

  // y = alpha * x + y, on the device.
  Status saxpy(CommandBuffer& rec, float alpha, Binding<const float> x, Binding<float> y) {
    if (x.size() != y.size()) {
      return failure(StatusCode::kInvalidArgument, "saxpy has ", x.size(), " and ", y.size(), " elements.");
    }
    const Kernels& kernels = kernels_[rec.device()];
    const auto count = static_cast<uint32_t>(x.size());
    return rec.dispatch(*kernels.code, kernels.saxpy, Grid{(count + 63) / 64}, constants(count, alpha), {x, y});
  }

  // total = the sum of x, on the host, in order with what the device does.
  Status sum(CommandBuffer& rec, Binding<const float> x, Binding<float> total) {
    const auto add_up = [](std::span<const float> numbers, std::span<float> result) {
      result[0] = 0;
      for (float number : numbers) result[0] += number;
    };
    return rec.host(add_up, x, total);
  }

 private:
  struct Kernels {
    Ref<Executable> code;
    uint32_t saxpy;
  };
  PerDevice<Kernels> kernels_;
};

}  // namespace

BATON_EXPORT_MODULE(Blas, "blas",                                                   //
                    BATON_COMMAND("saxpy", &Blas::saxpy, kCaptureSafe | kInPlace),  //
                    BATON_COMMAND("sum", &Blas::sum, kHostOnly));
