// A native module that lives in the app: programs import "sensors.read". One object of the class serves each context.
#include "sensors.hpp"

#include <vector>

#include "modules/sdk/module.hpp"

class Sensors final : public baton::sdk::Module<Sensors> {
 public:
  // The app passes "first", the temperature of sensor 0; each further one is a degree warmer.
  explicit Sensors(const Parameters& parameters) {
    const double first = std::stod(std::string(parameters.find("first").value_or("0")));
    for (int i = 0; i < 4; ++i) temperatures_.push_back(first + i);
  }

  Result<double> read(int32_t sensor) const {
    if (sensor < 0 || static_cast<size_t>(sensor) >= temperatures_.size()) {
      return failure(StatusCode::kOutOfRange, "There is no sensor ", sensor, ", only ", temperatures_.size(),
                     " of them.");
    }
    return temperatures_[static_cast<size_t>(sensor)];
  }

 private:
  std::vector<double> temperatures_;
};

BATON_MODULE_QUERY(query_sensors, Sensors, "sensors", BATON_FUNCTION("read", &Sensors::read));
