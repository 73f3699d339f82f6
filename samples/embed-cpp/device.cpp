// A C++ app that runs a compiled program on a device, with the app's own module: calibrate.bvm [--device=local-sync]
// [--trace=out.json].
#include <cstdio>
#include <cstring>
#include <string>

#include "modules/app/app.hpp"
#include "modules/module_registry.hpp"
#include "sensors.hpp"

namespace {

using namespace baton;
using app::TensorOf;

Status run(const char* path, const std::string& device, Timeline* timeline) {
  // What this app offers to programs, by name.
  modules::ModuleRegistry registry;
  BATON_TRY(registry.add("sensors", query_sensors));
  const modules::Parameter parameters[] = {{"first", "20"}};
  BATON_TRY_ASSIGN(Ref<const vm::Module> sensors, registry.make("sensors", parameters));

  // The type is compared with what the program declares, here and once.
  BATON_TRY_ASSIGN(app::App app,
                   app::App::open(path, {.devices = {device}, .modules = {sensors}, .timeline = timeline}));
  BATON_TRY_ASSIGN(auto calibrate, app.find<TensorOf<float>(app::Tensor, int32_t)>("calibrate"));

  const float numbers[] = {22, 23.5F, 24, 26};
  BATON_TRY_ASSIGN(const app::Tensor signal, app.tensor<float>({4}, numbers));
  BATON_TRY_ASSIGN(const TensorOf<float> calibrated, calibrate(signal, 2));
  BATON_TRY_ASSIGN(const std::vector<float> values, calibrated.copy<float>());
  std::printf("calibrated on %s: %g %g %g %g\n", app.devices()[0]->name().c_str(), values[0], values[1], values[2],
              values[3]);
  return {};
}

Status write(Timeline& timeline, const char* path) {
  timeline.flush();
  const std::string json = timeline.json();
  std::FILE* file = std::fopen(path, "w");
  const bool written = file && std::fwrite(json.data(), 1, json.size(), file) == json.size();
  if (file && std::fclose(file) == 0 && written) return {};
  return failure(StatusCode::kUnavailable, "'", path, "' could not be written.");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: embed-cpp-device calibrate.bvm [--device=X] [--trace=FILE]\n"), 2;
  std::string device = "local-sync";
  const char* trace = nullptr;
  for (int i = 2; i < argc; ++i) {
    if (std::strncmp(argv[i], "--device=", 9) == 0) device = argv[i] + 9;
    if (std::strncmp(argv[i], "--trace=", 8) == 0) trace = argv[i] + 8;
  }
  Timeline timeline;
  Status status = run(argv[1], device, trace ? &timeline : nullptr);
  if (status.ok() && trace) status = write(timeline, trace);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
