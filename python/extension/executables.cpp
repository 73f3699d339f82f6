#include "python/extension/executables.hpp"

#include <deque>

#include "modules/hal_module/objects.hpp"
#include "modules/host_table.hpp"
#include "python/extension/casts.hpp"
#include "python/extension/no_constructor.hpp"
#include "python/extension/values.hpp"

namespace baton::python {
namespace {

const baton_device_table& devices() { return *modules::host_table().devices; }

Status from_door(baton_status* failed) { return Status::adopt(reinterpret_cast<Status::Failure*>(failed)); }

// A recording uses an image in place, and does not tell when it ends: each image is kept for good, once.
nb::bytes kept_image(nb::handle image) {
  static auto* kept = new nb::dict;
  if (!kept->contains(image)) (*kept)[image] = nb::cast<nb::bytes>(image);
  return nb::cast<nb::bytes>((*kept)[image]);
}

std::vector<baton_entry_point> entry_points_of(nb::handle listed, std::deque<std::string>& names) {
  std::vector<baton_entry_point> all;
  if (listed.is_none()) return all;
  for (nb::handle one : listed) {
    const std::string& name = names.emplace_back(string_of(one[0], "the name of an entry point"));
    baton_entry_point point{};
    point.name = {name.data(), name.size()};
    for (size_t i = 0; i < 3; ++i)
      point.workgroup_size[i] =
          static_cast<uint32_t>(to_integer(nb::object(one[1][i]).ptr(), 0, UINT32_MAX, "extent of a workgroup"));
    all.push_back(point);
  }
  return all;
}

}  // namespace

Executable make_executable(const Device& device, nb::dict variants, nb::handle entry_points, const std::string& name,
                           nb::handle constants) {
  check(device.open->check_usable());
  std::deque<std::string> formats, names;  // They must not move.
  std::vector<baton_executable_variant> images;
  std::vector<uint32_t> words;
  for (auto [format, image] : variants) {
    const auto bytes = kept_image(image);
    const std::string& text = formats.emplace_back(string_of(format, "the name of a format"));
    images.push_back({{text.data(), text.size()}, bytes.data(), bytes.size()});
  }
  for (nb::handle constant : constants)
    words.push_back(static_cast<uint32_t>(to_integer(constant.ptr(), 0, UINT32_MAX, "constant of 32 bits")));
  const std::vector<baton_entry_point> points = entry_points_of(entry_points, names);
  baton_executable_request_v3 request{};
  request.request = {sizeof(request), static_cast<uint32_t>(images.size()),
                     images.data(),   {name.data(), name.size()},
                     words.data(),    words.size()};
  request.entry_points = points.data();
  request.entry_point_count = points.size();
  const OwnedObject handle(modules::wrap(device.open->shared()).detach());
  baton_executable* made = nullptr;
  Status status;
  {
    const Unlocked unlocked;
    status =
        from_door(devices().executable_make(reinterpret_cast<baton_device*>(handle.get()), &request.request, &made));
  }
  check(status);
  return Executable{OwnedObject(reinterpret_cast<baton_object*>(made))};
}

uint32_t entry_point_of(const Executable& executable, nb::handle name) {
  if (!PyUnicode_Check(name.ptr())) return static_cast<uint32_t>(to_integer(name.ptr(), 0, UINT32_MAX, "entry point"));
  const std::string text = nb::cast<std::string>(name);
  uint32_t index = 0;
  check(from_door(devices().executable_entry_point(executable.handle(), {text.data(), text.size()}, &index)));
  return index;
}

void bind_executables(nb::module_& module) {
  nb::class_<Executable>(module, "Executable", nb::type_slots(kNoConstructorAlone))
      .def("entry_point", entry_point_of, nb::arg("name"));
}

}  // namespace baton::python
