// A C++ app that runs a compiled program on a device, with a module of the app's that holds a live object of the app's:
// calibrate.bvm [--device=local-sync] [--trace=out.json].
#include <cstdio>
#include <cstring>
#include <string>

#include "modules/app/app.hpp"

namespace {

using namespace baton;
using app::TensorOf;

// What the app has anyway, and goes on changing.
struct Greenhouse {
  double temperature = 20;
};

// What programs import as "sensors". One object is the app's: it holds the greenhouse. Each context gets one of its own from it,
// for what belongs to one program's run: how often it asked.
class Sensors final : public sdk::Module<Sensors> {
 public:
  explicit Sensors(const Greenhouse& greenhouse) : greenhouse_(greenhouse) {}
  Sensors for_context() const { return Sensors(greenhouse_); }

  Result<double> read(int32_t sensor) {
    if (sensor < 0 || sensor > 3) return failure(StatusCode::kOutOfRange, "There is no sensor ", sensor, ", only 4.");
    ++asked_;
    return greenhouse_.temperature + sensor;  // Each one hangs a little higher.
  }
  int32_t asked() const { return asked_; }

 private:
  const Greenhouse& greenhouse_;
  int32_t asked_ = 0;
};

// Calls the program on four numbers, and prints them.
Status calibrate(const app::App& app) {
  // The type is compared with what the program declares, here and once.
  BATON_TRY_ASSIGN(auto function, app.find<TensorOf<float>(app::Tensor, int32_t)>("calibrate"));
  const float numbers[] = {22, 23.5F, 24, 26};
  BATON_TRY_ASSIGN(const app::Tensor signal, app.tensor<float>({4}, numbers));
  BATON_TRY_ASSIGN(const TensorOf<float> calibrated, function(signal, 2));
  BATON_TRY_ASSIGN(const std::vector<float> values, calibrated.copy<float>());
  std::printf("calibrated on %s: %g %g %g %g\n", app.devices()[0]->name().c_str(), values[0], values[1], values[2],
              values[3]);
  return {};
}

Status run(const char* path, const std::string& device, Timeline* timeline) {
  Greenhouse greenhouse;  // It outlives the apps.
  BATON_TRY_ASSIGN(
      Ref<const vm::Module> sensors,
      modules::make_shared_module<Sensors>(
          "sensors", {BATON_FUNCTION("read", &Sensors::read), BATON_FUNCTION("asked", &Sensors::asked)}, greenhouse));
  const app::AppOptions options = {.devices = {device}, .modules = {sensors}, .timeline = timeline};
  BATON_TRY_ASSIGN(const app::App first, app::App::open(path, options));
  BATON_TRY_ASSIGN(const app::App second, app::App::open(path, options));
  BATON_TRY(calibrate(first));
  greenhouse.temperature = 18;  // The program asks the object, and not a copy of it.
  BATON_TRY(calibrate(first));
  BATON_TRY(calibrate(second));
  BATON_TRY_ASSIGN(auto first_asked, first.find<int32_t()>("sensors.asked"));
  BATON_TRY_ASSIGN(auto second_asked, second.find<int32_t()>("sensors.asked"));
  BATON_TRY_ASSIGN(const int32_t of_first, first_asked());
  BATON_TRY_ASSIGN(const int32_t of_second, second_asked());
  std::printf("sensors asked: %d times by the first app, %d by the second\n", of_first, of_second);
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
