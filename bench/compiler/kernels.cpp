// How fast generated CPU kernels are, on one core, beside memcpy, a C compiler's loops and OpenBLAS in the same run.
//
//   bench_compiler_kernels [--quick] [--sanitize]
//
// Contenders take turns, and each number is the median of its turns, so that what else the machine does hits all alike.
// Every kernel's result is compared before it is timed. A peer that does other work than ours says so in its name.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "bench/compiler/loops.h"
#include "tests/compiler-lite/codegen/compiled_groups.hpp"

#ifdef BATON_OPENBLAS
extern "C" void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
extern "C" void openblas_set_num_threads(int count);
extern "C" char* openblas_get_corename(void);
#endif

namespace {

using baton::compiler_lite::codegen::CompiledGroups;
using baton::compiler_lite::codegen::CompileOptions;
using baton::compiler_lite::codegen::scalar;
using baton::compiler_lite::codegen::Tensor;

constexpr std::string_view kGroups = R"(
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @scale(%a: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %s : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @chain(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %1 = arith.addf %a, %b : tensor<?xf32>
  %2 = arith.mulf %1, %a : tensor<?xf32>
  %3 = arith.subf %2, %b : tensor<?xf32>
  %4 = math.absf %3 : tensor<?xf32>
  %5 = arith.addf %4, %1 : tensor<?xf32>
  %6 = arith.mulf %5, %b : tensor<?xf32>
  %7 = arith.negf %6 : tensor<?xf32>
  %8 = arith.addf %7, %a : tensor<?xf32>
  %9 = arith.mulf %8, %8 : tensor<?xf32>
  %10 = arith.addf %9, %1 : tensor<?xf32>
  return %10 : tensor<?xf32>
}
func.func @exp(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.exp %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @tanh(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.tanh %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @rows(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
)";

constexpr std::string_view kOne = R"(
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}
)";

// Of this thread: others that take the core do not count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double process_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Contender {
  std::string name;
  void (*work)(void*);
  void* state;
  std::vector<double> turns;

  double median() {
    std::sort(turns.begin(), turns.end());
    return turns[turns.size() / 2];
  }
};

template <typename Work>
Contender contender(std::string name, Work& work) {
  return {std::move(name), [](void* state) { (*static_cast<Work*>(state))(); }, &work, {}};
}

// Each turn lasts about as long, whoever works.
void take_turns(std::vector<Contender>& contenders, int turns, double seconds) {
  for (int turn = 0; turn < turns; ++turn) {
    for (Contender& one : contenders) {
      one.work(one.state);
      double spent = 0.0;
      size_t count = 0;
      const double begin = now();
      do {
        one.work(one.state);
        ++count;
        spent = now() - begin;
      } while (spent < seconds);
      one.turns.push_back(spent / static_cast<double>(count));
    }
  }
}

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "bench: %s gives wrong values\n", what);
  std::exit(1);
}

int turns = 7;
double seconds = 0.05;

// Rows as: question, what is counted, ours, the peers, ratio to each.
void print(const std::string& question, double units, const char* unit, std::vector<Contender>& all) {
  take_turns(all, turns, seconds);
  std::printf("%-22s %9.1f %-8s", question.c_str(), units / all[0].median() * 1e-9, unit);
  for (size_t i = 1; i < all.size(); ++i) {
    std::printf("  %s %.1f (ours/theirs %.2f)", all[i].name.c_str(), units / all[i].median() * 1e-9,
                all[i].median() / all[0].median());
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::vector<float> numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(static_cast<int>(i * 7919 % 31) - 15) / 16.0f;
  return values;
}

void elementwise(CompiledGroups& groups, size_t n) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(n)};
  Tensor a = Tensor::of<float>(shape, numbers(n)), b = a, r = a;
  const std::vector<float> av = numbers(n);
  const std::vector<float> bv = numbers(n);  // Memory of its own, as ours has: two streams are read.
  std::vector<float> rv(n);
  const auto add = groups.record("add", {a, b}, {&r});
  add->run();
  add->fetch();
  loop_add(av.data(), bv.data(), rv.data(), n);
  expect(r.as<float>() == rv, "add");
  const auto scaled = groups.record("scale", {a, scalar(3.0f)}, {&r});
  scaled->run();
  scaled->fetch();
  std::vector<float> scaled_by_loop(n);
  loop_scale(av.data(), 3.0f, scaled_by_loop.data(), n);
  expect(r.as<float>() == scaled_by_loop, "scale");
  const auto chain = groups.record("chain", {a, b}, {&r});
  chain->run();
  chain->fetch();
  loop_chain(av.data(), bv.data(), rv.data(), n);
  const std::vector<float> chained = r.as<float>();
  // The last product and sum may be one instruction: half a unit of the largest product, which is below 36, either way.
  for (size_t i = 0; i < n; ++i) expect(std::fabs(chained[i] - rv[i]) <= 4e-6f, "chain");

  const double bytes = static_cast<double>(n) * 4.0;
  const std::string size = n >= 1 << 20 ? std::to_string(n >> 20) + "M" : std::to_string(n);
  auto run_add = [&] { add->run(); };
  auto run_scale = [&] { scaled->run(); };
  auto run_chain = [&] { chain->run(); };
  auto c_add = [&] { loop_add(av.data(), bv.data(), rv.data(), n); };
  auto c_chain = [&] { loop_chain(av.data(), bv.data(), rv.data(), n); };
  auto c_scale = [&] { loop_scale(av.data(), 3.0f, rv.data(), n); };
  auto copy = [&] {
    std::memcpy(rv.data(), av.data(), n * 4);
    __asm__ volatile("" : : "r"(rv.data()) : "memory");
  };
  std::vector<Contender> adds = {contender("ours", run_add), contender("C loop", c_add)};
  print("add " + size, bytes * 3.0, "GB/s", adds);
  std::vector<Contender> scales = {contender("ours", run_scale), contender("C loop", c_scale),
                                   contender("memcpy", copy)};
  print("scale " + size, bytes * 2.0, "GB/s", scales);
  std::vector<Contender> chains = {contender("ours", run_chain), contender("C loop", c_chain),
                                   contender("C loop of one add, less work", c_add)};
  print("chain of ten " + size, bytes * 3.0, "GB/s", chains);
}

// `vectors`: the peer that does what ours does, where there is one. libm takes an element at a time and rounds better.
void math(CompiledGroups& groups, const char* name, float (*reference)(float),
          void (*vectors)(const float*, float*, size_t)) {
  const size_t n = 1 << 16;
  Tensor a = Tensor::of<float>({static_cast<int64_t>(n)}, numbers(n)), r = a;
  const auto recorded = groups.record(name, {a}, {&r});
  recorded->run();
  recorded->fetch();
  const std::vector<float> av = a.as<float>(), rv = r.as<float>();
  for (size_t i = 0; i < n; ++i) expect(std::fabs(rv[i] - reference(av[i])) <= 3e-7f * std::fabs(rv[i]), name);
  std::vector<float> out(n);
  auto ours = [&] { recorded->run(); };
  auto libm = [&] {
    for (size_t i = 0; i < n; ++i) out[i] = reference(av[i]);
    __asm__ volatile("" : : "r"(out.data()) : "memory");
  };
  auto loop = [&] { vectors(av.data(), out.data(), n); };
  std::vector<Contender> all = {contender("ours", ours)};
  if (vectors) {
    loop();
    for (size_t i = 0; i < n; ++i) expect(std::fabs(out[i] - reference(av[i])) <= 1e-6f * std::fabs(out[i]), "libmvec");
    all.push_back(contender("C loop, libmvec", loop));
  }
  all.push_back(contender("libm, one at a time and unequal work", libm));
  print(std::string(name) + " 64K", static_cast<double>(n), "Gelem/s", all);
}

void rows(CompiledGroups& groups, size_t m, size_t n) {
  Tensor a = Tensor::of<float>({static_cast<int64_t>(m), static_cast<int64_t>(n)}, numbers(m * n));
  Tensor r = Tensor::empty<float>({static_cast<int64_t>(m)});
  const std::vector<float> av = a.as<float>();
  std::vector<float> rv(m);
  const auto recorded = groups.record("rows", {a}, {&r});
  recorded->run();
  recorded->fetch();
  loop_row_sums(av.data(), rv.data(), m, n);
  expect(r.as<float>() == rv, "rows");
  auto ours = [&] { recorded->run(); };
  auto loop = [&] { loop_row_sums(av.data(), rv.data(), m, n); };
  std::vector<Contender> all = {contender("ours", ours), contender("C loop", loop)};
  print("row sums " + std::to_string(m) + "x" + std::to_string(n), static_cast<double>(m * n) * 4.0, "GB/s", all);
}

void product(CompiledGroups& groups, int n) {
  const auto size = static_cast<size_t>(n);
  Tensor a = Tensor::of<float>({n, n}, numbers(size * size)), b = a, r = a;
  const std::vector<float> av = a.as<float>();
  const auto recorded = groups.record("product", {a, b}, {&r});
  recorded->run();
  recorded->fetch();
  const std::vector<float> got = r.as<float>();
  for (size_t i = 0; i < size; i += 37) {
    for (size_t j = 0; j < size; j += 41) {
      double sum = 0.0;
      for (size_t k = 0; k < size; ++k)
        sum += static_cast<double>(av[i * size + k]) * static_cast<double>(av[k * size + j]);
      expect(std::fabs(sum - static_cast<double>(got[i * size + j])) < 1e-3, "product");
    }
  }
  auto ours = [&] { recorded->run(); };
  std::vector<Contender> all = {contender("ours", ours)};
#ifdef BATON_OPENBLAS
  openblas_set_num_threads(1);
  std::vector<float> out(size * size);
  auto blas = [&] { cblas_sgemm(101, 111, 111, n, n, n, 1.0f, av.data(), n, av.data(), n, 0.0f, out.data(), n); };
  all.push_back(contender(std::string("OpenBLAS ") + openblas_get_corename(), blas));
#endif
  print("product " + std::to_string(n) + "^3", 2.0 * static_cast<double>(n) * n * n, "GFLOP/s", all);
}

}  // namespace

int main(int argc, char** argv) {
  CompileOptions options;
  for (const char* argument : std::vector<const char*>(argv + 1, argv + argc)) {
    if (std::strcmp(argument, "--sanitize") == 0) options.sanitize = true;
    if (std::strcmp(argument, "--quick") != 0) continue;
    turns = 3;
    seconds = 0.01;
  }
  const double start = process_ms();
  CompiledGroups groups(kGroups, options);
  if (!groups.messages().empty()) return std::fprintf(stderr, "%s\n", groups.messages().c_str()), 1;
  std::printf("compile 7 kernels for 3 levels: %.1f ms, %.1f ms of processor time with MLIR's start; %zu bytes\n",
              groups.compile_ms(), process_ms() - start, groups.bytes().size());
  const double again = process_ms();
  const CompiledGroups one(kOne, options);
  std::printf("compile 1 kernel for 3 levels:  %.1f ms, %.1f ms of processor time, warm; %zu bytes\n", one.compile_ms(),
              process_ms() - again, one.bytes().size());
  for (const size_t n : {size_t{4096}, size_t{1} << 20, size_t{16} << 20}) elementwise(groups, n);
  math(groups, "exp", std::exp, loop_exp);
  math(groups, "tanh", std::tanh, nullptr);
  rows(groups, 512, 4096);
  rows(groups, 4096, 4096);
  product(groups, 512);
  product(groups, 1024);
  return 0;
}
