// smooth.bvm filters.so: one app, four threads, each with a function and tensors of its own.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>

#include "modules/app/app.hpp"
#include "modules/plugin_loader.hpp"

using namespace baton;
using app::TensorOf;

// A line goes through the filter unchanged, but for its ends.
Status work(const app::App& app, int thread) {
  BATON_TRY_ASSIGN(auto smooth, app.find<TensorOf<float>(TensorOf<float>)>("smooth"));
  for (int length = 5; length < 105; ++length) {
    std::vector<float> line(static_cast<size_t>(length));
    for (size_t i = 0; i < line.size(); ++i) line[i] = static_cast<float>(thread + 1) * static_cast<float>(i);
    BATON_TRY_ASSIGN(const TensorOf<float> x, app.tensor<float>({length}, line));
    BATON_TRY_ASSIGN(const TensorOf<float> y, smooth(x));
    BATON_TRY_ASSIGN(const std::vector<float> softened, y.copy<float>());
    for (size_t i = 2; i + 2 < line.size(); ++i) {
      const float wanted = 2 * line[i];
      if (std::fabs(softened[i] - wanted) > 1e-4F * wanted) {
        return failure(StatusCode::kInternal, "Element ", i, " of ", length, " is ", softened[i], ", not ", wanted,
                       ".");
      }
    }
  }
  return {};
}

Status run(const char* program, const char* plugin) {
  BATON_TRY_ASSIGN(Ref<const vm::Module> filters, modules::load_plugin(plugin));
  BATON_TRY_ASSIGN(const app::App app, app::App::open(program, {.devices = {"local-task"}, .modules = {filters}}));
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&app, &failed, i] {
      const Status status = work(app, i);
      if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
      failed += status.ok() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed != 0) return failure(StatusCode::kInternal, failed.load(), " threads failed.");
  std::printf("four threads, 400 calls\n");
  return {};
}

int main(int, char** argv) {
  const Status status = run(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
