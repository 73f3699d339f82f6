// The text of #hal.* attributes.
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/hal/hal.types.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler-lite/dialects/hal/hal.attributes.cpp.inc"

namespace baton::compiler_lite::hal {

void HalDialect::register_attributes_and_types() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/hal/hal.types.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler-lite/dialects/hal/hal.attributes.cpp.inc"
      >();
}

bool ExecutableTargetAttr::is_generic_of(ExecutableTargetAttr specific) const {
  if (getBackend() != specific.getBackend() || getFormat() != specific.getFormat()) return false;
  if (!getConfiguration()) return true;
  return llvm::all_of(getConfiguration(), [&](NamedAttribute entry) {
    return specific.getConfiguration() && specific.getConfiguration().get(entry.getName()) == entry.getValue();
  });
}

// `<"local", {config}, [#cpu]> : !hal.device`; the type may be left out.
Attribute DeviceTargetAttr::parse(AsmParser& parser, Type) {
  StringAttr device;
  DictionaryAttr configuration;
  SmallVector<ExecutableTargetAttr> targets;
  if (parser.parseLess() || parser.parseAttribute(device)) return {};
  while (succeeded(parser.parseOptionalComma())) {
    const SMLoc where = parser.getCurrentLocation();
    Attribute next;
    if (parser.parseAttribute(next)) return {};
    if (const auto dictionary = llvm::dyn_cast<DictionaryAttr>(next)) {
      configuration = dictionary;
      continue;
    }
    const auto list = llvm::dyn_cast<ArrayAttr>(next);
    if (!list) return parser.emitError(where, "expected a dictionary or a list of targets"), Attribute();
    for (const Attribute each : list) {
      targets.push_back(llvm::dyn_cast<ExecutableTargetAttr>(each));
      if (!targets.back()) return parser.emitError(where) << each << " is not a #hal.executable.target", Attribute();
    }
  }
  if (parser.parseGreater()) return {};
  return get(parser.getContext(), device, configuration, targets);
}

void DeviceTargetAttr::print(AsmPrinter& printer) const {
  printer << "<" << getDevice();
  if (getConfiguration()) printer << ", " << getConfiguration();
  if (!getTargets().empty()) {
    printer << ", [";
    llvm::interleaveComma(getTargets(), printer);
    printer << "]";
  }
  printer << ">";
}

Type DeviceTargetAttr::getType() const { return DeviceType::get(getContext()); }
Type DeviceAliasAttr::getType() const { return DeviceType::get(getContext()); }
Type DeviceOrdinalAttr::getType() const { return DeviceType::get(getContext()); }
Type DeviceSelectAttr::getType() const { return DeviceType::get(getContext()); }

// `<{path = "kernel.o", data = dense<...> : tensor<4xi8>}>`
Attribute ExecutableObjectAttr::parse(AsmParser& parser, Type) {
  const SMLoc where = parser.getCurrentLocation();
  Attribute fields;
  if (parser.parseLess() || parser.parseAttribute(fields) || parser.parseGreater()) return {};
  const auto dictionary = llvm::dyn_cast<DictionaryAttr>(fields);
  const auto path = dictionary ? dictionary.getAs<StringAttr>("path") : StringAttr();
  if (!path) return parser.emitError(where, "an executable object is {path = \"...\"}"), Attribute();
  const Attribute data = dictionary.get("data");
  if (data && !llvm::isa<DenseIntElementsAttr>(data)) {
    return parser.emitError(where, "the data of an executable object is dense<...> of bytes"), Attribute();
  }
  return get(parser.getContext(), path, llvm::cast_if_present<DenseIntElementsAttr>(data));
}

void ExecutableObjectAttr::print(AsmPrinter& printer) const {
  printer << "<{path = " << getPath();
  if (getData()) printer << ", data = " << getData();
  printer << "}>";
}

// `<{#target = [#object, ...], ...}>`: the keys are attributes, which no dictionary of MLIR's can have.
Attribute ExecutableObjectsAttr::parse(AsmParser& parser, Type) {
  SmallVector<Attribute> targets;
  SmallVector<ArrayAttr> objects;
  const auto entry = [&]() -> ParseResult {
    const SMLoc where = parser.getCurrentLocation();
    if (parser.parseAttribute(targets.emplace_back())) return failure();
    if (!llvm::isa<ExecutableTargetAttr>(targets.back())) {
      return parser.emitError(where) << targets.back() << " is not a #hal.executable.target";
    }
    return failure(parser.parseEqual() || parser.parseAttribute(objects.emplace_back()));
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, entry) ||
      parser.parseGreater()) {
    return {};
  }
  return get(parser.getContext(), targets, objects);
}

void ExecutableObjectsAttr::print(AsmPrinter& printer) const {
  printer << "<{";
  size_t i = 0;
  llvm::interleaveComma(getTargets(), printer,
                        [&](Attribute target) { printer << target << " = " << getObjects()[i++]; });
  printer << "}>";
}

llvm::SmallVector<ExecutableObjectAttr> ExecutableObjectsAttr::objects_for(ExecutableTargetAttr target) const {
  llvm::SmallVector<ExecutableObjectAttr> found;
  for (size_t i = 0; i < getTargets().size(); ++i) {
    if (!llvm::cast<ExecutableTargetAttr>(getTargets()[i]).is_generic_of(target)) continue;
    for (const Attribute object : getObjects()[i]) {
      if (const auto as_object = llvm::dyn_cast<ExecutableObjectAttr>(object)) found.push_back(as_object);
    }
  }
  return found;
}

// `<storage_buffer, ReadOnly>` or `<uniform_buffer, "ReadOnly|Indirect">`
Attribute PipelineBindingAttr::parse(AsmParser& parser, Type) {
  StringRef kind;
  bool read_only = false, indirect = false;
  const SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&kind)) return {};
  if (kind != "storage_buffer" && kind != "uniform_buffer") {
    return parser.emitError(where, "a binding is a storage_buffer or a uniform_buffer"), Attribute();
  }
  if (succeeded(parser.parseOptionalComma())) {
    std::string words;
    StringRef word;
    if (succeeded(parser.parseOptionalString(&words)))
      word = words;
    else if (parser.parseKeyword(&word))
      return {};
    SmallVector<StringRef> flags;
    word.split(flags, '|');
    for (const StringRef flag : flags) {
      if (flag == "ReadOnly")
        read_only = true;
      else if (flag == "Indirect")
        indirect = true;
      else if (flag != "None") {
        return parser.emitError(where) << "the flags of a binding are ReadOnly and Indirect, and not '" << flag << "'",
               Attribute();
      }
    }
  }
  return parser.parseGreater() ? Attribute() : get(parser.getContext(), kind, read_only, indirect);
}

void PipelineBindingAttr::print(AsmPrinter& printer) const {
  printer << "<" << getKind();
  if (getReadOnly() && getIndirect())
    printer << ", \"ReadOnly|Indirect\"";
  else if (getReadOnly())
    printer << ", ReadOnly";
  else if (getIndirect())
    printer << ", Indirect";
  printer << ">";
}

// `<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>], flags = Indirect>`
Attribute PipelineLayoutAttr::parse(AsmParser& parser, Type) {
  int64_t constants = 0;
  SmallVector<PipelineBindingAttr> bindings;
  StringAttr flags;
  const auto binding = [&]() -> ParseResult {
    Attribute attribute;
    const OptionalParseResult full = parser.parseOptionalAttribute(attribute);
    if (full.has_value()) {
      if (failed(*full)) return failure();
    } else if (!(attribute = PipelineBindingAttr::parse(parser, {}))) {
      return failure();
    }
    bindings.push_back(llvm::dyn_cast<PipelineBindingAttr>(attribute));
    if (bindings.back()) return success();
    return parser.emitError(parser.getCurrentLocation()) << attribute << " is not a #hal.pipeline.binding";
  };
  const auto field = [&]() -> ParseResult {
    StringRef word;
    const SMLoc where = parser.getCurrentLocation();
    if (parser.parseKeyword(&word) || parser.parseEqual()) return failure();
    if (word == "constants") return parser.parseInteger(constants);
    if (word == "bindings") return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, binding);
    if (word != "flags") return parser.emitError(where, "a layout has constants, bindings and flags");
    std::string text;
    StringRef keyword;
    if (failed(parser.parseOptionalString(&text))) {
      if (parser.parseKeyword(&keyword)) return failure();
      text = keyword.str();
    }
    flags = StringAttr::get(parser.getContext(), text);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, field)) return {};
  return get(parser.getContext(), constants, bindings, flags);
}

void PipelineLayoutAttr::print(AsmPrinter& printer) const {
  printer << "<";
  if (getConstants() != 0) printer << "constants = " << getConstants() << ", ";
  printer << "bindings = [";
  llvm::interleaveComma(getBindings(), printer);
  printer << "]";
  if (getFlags()) printer << ", flags = " << getFlags();
  printer << ">";
}

Attribute ABIConventionAttr::parse(AsmParser& parser, Type) {
  StringRef word;
  const SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word) || parser.parseGreater()) return {};
  if (word == "synchronous" || word == "coarse_fences") return get(parser.getContext(), word);
  return parser.emitError(where, "a convention is synchronous or coarse_fences"), Attribute();
}
void ABIConventionAttr::print(AsmPrinter& printer) const { printer << "<" << getConvention() << ">"; }

}  // namespace baton::compiler_lite::hal
