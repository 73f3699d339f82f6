#include "modules/sdk/module.hpp"
#include "soften_elf.hpp"

using namespace baton::sdk;

class Filters final : public Module<Filters> {
 public:
  Status prepare(Device& device) {
    const ExecutableVariant variants[] = {{"embedded-elf-x86_64", std::as_bytes(std::span(soften_x86_64))},
                                          {"embedded-elf-aarch64", std::as_bytes(std::span(soften_aarch64))}};
    BATON_ASSIGN_OR_RETURN(Ref<Executable> code, device.make_executable("filters", variants));
    code_.add(device, std::move(code));
    return {};
  }

  Status soften(CommandBuffer& rec, float strength, Binding<const float> x, Binding<float> y) {
    const auto count = static_cast<uint32_t>(x.size());
    return rec.dispatch(*code_[rec.device()], 0, Grid{(count + 15) / 16}, constants(strength, count), {x, y});
  }

 private:
  PerDevice<Ref<Executable>> code_;
};
BATON_EXPORT_MODULE(Filters, "filters", BATON_COMMAND("soften", &Filters::soften));
