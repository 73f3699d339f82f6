// Imports of kernels: host symbols, system plugins and embedded plugins provide them; what is missing is told together.
#include "hal/drivers/local/import_plugin.hpp"

#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/drivers/local/elf_file.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tests/support/files.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

const std::string_view kHost = host_elf_machine() == EM_X86_64 ? "x86_64" : "aarch64";

std::string embedded_plugin() { return text("embedded:", BATON_TEST_ELF_FOLDER, "plugin_", kHost, ".elf"); }

Result<Ref<hal::Executable>> load_kernels(hal::Device& device, std::string_view format,
                                          std::span<const std::byte> bytes) {
  const ExecutableVariant variant{format, bytes};
  const uint32_t constant = 77;
  return device.make_executable({.name = "imports", .variants = {&variant, 1}, .constants = {&constant, 1}});
}

std::vector<std::byte> embedded_kernels() {
  return testing_support::read_file(text(BATON_TEST_ELF_FOLDER, "imports_", kHost, ".elf"));
}
std::string_view embedded_format() { return kHost == "x86_64" ? "embedded-elf-x86_64" : "embedded-elf-arm_64"; }
std::string_view system_format() { return kHost == "x86_64" ? "system-elf-x86_64" : "system-elf-arm_64"; }

Ref<hal::Device> open_with(std::shared_ptr<ImportProvider> provider) {
  Options options;
  options.imports.add(std::move(provider));
  return make_driver(std::move(options))->open("sync", {}).value();
}

// Runs the kernel on {6, 7}; what it left: product, whether the optional import is there, the constant.
Result<std::vector<uint32_t>> multiply(hal::Device& device, hal::Executable& executable, uint32_t a = 6) {
  const auto values = device.allocator().allocate({.length = 20}).value();
  {
    const auto mapping = values->map(Access::kWrite).value();
    mapping.as<uint32_t>()[0] = a;
    mapping.as<uint32_t>()[1] = 7;
  }
  const Binding bindings[] = {values};
  const auto commands = device.make_command_buffer().value();
  BATON_TRY(commands->dispatch({.executable = &executable, .bindings = bindings}));
  BATON_TRY(device.queue().execute({}, *commands->finish().value()));
  BATON_TRY(device.queue().wait_idle());
  const auto mapping = values->map(Access::kRead).value();
  const auto left = mapping.as<uint32_t>().subspan(2);
  return std::vector<uint32_t>(left.begin(), left.end());
}

TEST(ImportPluginTest, BothLoadersTakePlugins) {
  for (const std::string& path : {std::string(BATON_TEST_SYSTEM_PLUGIN), embedded_plugin()}) {
    const PluginParameter factor{"scale", "2"};
    auto plugin = load_import_plugin(path, {&factor, 1});
    ASSERT_OK(plugin);
    const auto device = open_with(*plugin);
    const auto bytes = embedded_kernels();
    const auto executable = load_kernels(*device, embedded_format(), bytes).value();
    EXPECT_EQ(multiply(*device, *executable).value(), (std::vector<uint32_t>{84, 0, 77}));
  }
}

TEST(ImportPluginTest, SystemLibrariesLoadFromMemory) {
  const auto device = open_with(load_import_plugin(embedded_plugin()).value());
  const auto bytes = testing_support::read_file(BATON_TEST_SYSTEM_KERNELS);
  auto executable = load_kernels(*device, system_format(), bytes);
  ASSERT_OK(executable);
  EXPECT_EQ(multiply(*device, **executable).value(), (std::vector<uint32_t>{42, 0, 77}));
}

TEST(ImportPluginTest, HostSymbolsProvideRequiredAndOptional) {
  auto symbols = std::make_shared<HostSymbols>();
  symbols->add("acme.multiply", [](void* params, void* context, void*) {
    auto* values = static_cast<uint32_t*>(params);
    values[0] = values[1] + values[2] + *static_cast<uint32_t*>(context);
    return 0;
  });
  static uint32_t context = 1000;
  symbols->add(
      "acme.multiply",
      [](void* params, void* data, void*) {
        static_cast<uint32_t*>(params)[0] = *static_cast<uint32_t*>(data);
        return 0;
      },
      &context);
  symbols->add("acme.fast", [](void*, void*, void*) { return 0; });
  const auto device = open_with(symbols);
  const auto bytes = embedded_kernels();
  const auto executable = load_kernels(*device, embedded_format(), bytes).value();
  EXPECT_EQ(multiply(*device, *executable).value(), (std::vector<uint32_t>{1000, 1, 77}));
}

TEST(ImportPluginTest, LaterProvidersAreAskedFirst) {
  auto symbols = std::make_shared<HostSymbols>();
  symbols->add("acme.multiply", [](void* params, void*, void*) {
    static_cast<uint32_t*>(params)[0] = 5;
    return 0;
  });
  Options options;
  options.imports.add(load_import_plugin(embedded_plugin()).value());
  options.imports.add(symbols);
  const auto device = make_driver(std::move(options))->open("sync", {}).value();
  const auto bytes = embedded_kernels();
  const auto executable = load_kernels(*device, embedded_format(), bytes).value();
  EXPECT_EQ(multiply(*device, *executable).value()[0], 5u);
}

TEST(ImportPluginTest, AllMissingImportsAreToldTogether) {
  KernelImports imports;
  imports.add(std::make_shared<HostSymbols>());
  const char* const names[] = {"?optional", "one", "two"};
  baton_import_function functions[3] = {};
  void* contexts[3] = {};
  EXPECT_FAILS(imports.resolve({names, functions, contexts}), StatusCode::kNotFound,
               "Kernels import functions that nobody provides (asked: host symbols):\n  'one'\n  'two'");
  const auto device = open_with(std::make_shared<HostSymbols>());
  const auto bytes = embedded_kernels();
  EXPECT_FAILS(load_kernels(*device, embedded_format(), bytes), StatusCode::kNotFound, "'acme.multiply'");
}

TEST(ImportPluginTest, AnImportThatFailsFailsTheDispatch) {
  const auto device = open_with(load_import_plugin(embedded_plugin()).value());
  const auto bytes = embedded_kernels();
  const auto executable = load_kernels(*device, embedded_format(), bytes).value();
  EXPECT_FAILS(multiply(*device, *executable, 13), StatusCode::kInternal, "returned 99 in workgroup (0, 0, 0).");
  EXPECT_EQ(multiply(*device, *executable).value()[0], 42u);
}

TEST(ImportPluginTest, RefusesWhatIsNoPlugin) {
  EXPECT_FAILS(load_import_plugin("/nowhere/plugin.so"), StatusCode::kNotFound,
               "Cannot open the library '/nowhere/plugin.so'");
  EXPECT_FAILS(load_import_plugin("/nowhere/plugin.sos"), StatusCode::kNotFound, "Cannot open '/nowhere/plugin.sos'");
  EXPECT_FAILS(load_import_plugin(text("embedded:", BATON_TEST_ELF_FOLDER, "kernels_", kHost, ".elf")),
               StatusCode::kNotFound, "exports no baton_executable_plugin_query.");
  const PluginParameter fail{"fail", "1"};
  EXPECT_FAILS(load_import_plugin(embedded_plugin(), {&fail, 1}), StatusCode::kFailedPrecondition,
               "failed to load with FAILED_PRECONDITION.");
}

TEST(ImportPluginTest, ExecutablesCheckTheirConstants) {
  const auto device = open_with(load_import_plugin(embedded_plugin()).value());
  const auto bytes = embedded_kernels();
  const ExecutableVariant variant{embedded_format(), bytes};
  EXPECT_FAILS(device->make_executable({.name = "imports", .variants = {&variant, 1}}), StatusCode::kInvalidArgument,
               "The library takes 1 specialization constants; 0 given.\n  while loading variant 'embedded-elf-");
}

}  // namespace
}  // namespace baton::hal::drivers::local
