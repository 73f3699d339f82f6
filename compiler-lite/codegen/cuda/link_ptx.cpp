#include "compiler-lite/codegen/cuda/link_ptx.hpp"

#include <map>
#include <set>

#include "compiler-lite/codegen/cuda/ptx_file.hpp"
#include "llvm/ADT/StringSet.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

using llvm::StringRef;

// What the driver itself brings for device code.
constexpr llvm::StringLiteral kDriverFunctions[] = {"vprintf", "malloc", "free", "__assertfail"};

struct Number {
  unsigned major = 0, minor = 0;
  char suffix = 0;  // The "a" of "90a": the code runs on this architecture alone.
};

Number number_of_version(StringRef text) {
  Number number;
  const auto [major, minor] = text.split('.');
  major.getAsInteger(10, number.major);
  minor.getAsInteger(10, number.minor);
  return number;
}

Number number_of_target(StringRef text) {
  Number number;
  text.consume_front("sm_");
  text.consumeInteger(10, number.major);
  if (!text.empty()) number.suffix = text.front();
  return number;
}

bool is_older(StringRef a, StringRef b) {
  const Number x = number_of_version(a), y = number_of_version(b);
  return std::pair(x.major, x.minor) < std::pair(y.major, y.minor);
}

bool fits(StringRef object, StringRef ours) {
  const Number theirs = number_of_target(object), mine = number_of_target(ours);
  if (theirs.suffix != 0) return theirs.suffix == mine.suffix && theirs.major == mine.major;
  return theirs.major <= mine.major;
}

bool is_definition(const PtxStatement& each) {
  if (each.linkage == PtxLinkage::kExtern) return false;
  return each.kind == PtxStatement::Kind::kVariable || (each.kind == PtxStatement::Kind::kFunction && each.has_body);
}

bool is_global(const PtxStatement& each) {
  return is_definition(each) && (each.linkage == PtxLinkage::kVisible || each.linkage == PtxLinkage::kWeak);
}

struct Part {
  std::string name;
  PtxFile file;
  std::map<std::string, std::string, std::less<>> renamed = {};
};

// One definition of an object, and whether the kernels reach it.
struct Definition {
  Part* part;
  PtxStatement* statement;
  bool is_taken = false;
};

class Linking {
 public:
  explicit Linking(llvm::ArrayRef<std::string> later) : later_(later) {}

  std::string read(StringRef code, llvm::ArrayRef<PtxObject> objects) {
    std::string problem = ours_.read(code);
    if (!problem.empty()) return "The generated PTX " + problem + ".";
    version_ = ours_.version;
    parts_.reserve(objects.size());
    for (const PtxObject& object : objects) {
      Part& part = parts_.emplace_back(Part{object.name, {}});
      problem = part.file.read(object.text);
      if (!problem.empty()) return "The object '" + object.name + "' " + problem + ".";
      if (!fits(part.file.target, ours_.target)) {
        return "The object '" + object.name + "' is for " + part.file.target + "; this executable is for " +
               ours_.target + ".";
      }
      if (is_older(version_, part.file.version)) version_ = part.file.version;
    }
    return {};
  }

  std::string link() {
    for (const PtxStatement& each : ours_.statements) {
      if (each.linkage != PtxLinkage::kExtern) names_.insert(each.name);
    }
    std::string problem = rename();
    if (problem.empty()) problem = take_needed();
    if (problem.empty()) problem = check_calls(ours_, "The kernels call '");
    for (const Part& part : parts_) {
      if (problem.empty()) problem = check_calls(part.file, "The object '" + part.name + "' calls '");
    }
    return problem;
  }

  std::string print() const {
    std::string text = ".version " + version_ + "\n.target " + ours_.target + "\n.address_size 64\n\n";
    for (const PtxStatement& each : left_open_) text += print_extern(each);
    for (const Definition& each : definitions_) {
      if (each.is_taken && each.statement->kind == PtxStatement::Kind::kFunction) text += each.statement->head + ";\n";
    }
    for (const Definition& each : definitions_) {
      if (each.is_taken && each.statement->kind == PtxStatement::Kind::kVariable) text += each.statement->head + ";\n";
    }
    for (const Definition& each : definitions_) {
      if (each.is_taken && each.statement->has_body)
        text += "\n" + each.statement->head + "\n" + each.statement->body + "\n";
    }
    for (const PtxStatement& each : ours_.statements) text += print_ours(each);
    return text;
  }

 private:
  // Renames what is internal to an object, or has a name of Baton's own code, so that the name is unique.
  std::string rename() {
    for (Part& part : parts_) {
      for (PtxStatement& each : part.file.statements) {
        if (!is_definition(each)) continue;
        if (is_global(each) && !names_.contains(each.name)) continue;
        part.renamed[each.name] = each.name + "$" + std::to_string(&part - parts_.data());
      }
      for (PtxStatement& each : part.file.statements) {
        apply_names(part, each);
        std::string problem = define(part, each);
        if (!problem.empty()) return problem;
      }
    }
    return {};
  }

  static void apply_names(const Part& part, PtxStatement& each) {
    if (part.renamed.empty()) return;
    const auto name = [&](StringRef old) {
      const auto found = part.renamed.find(std::string_view(old));
      return found == part.renamed.end() ? old.str() : found->second;
    };
    each.name = name(each.name);
    each.head = replace_ptx_names(each.head, name);
    each.body = replace_ptx_names(each.body, name);
  }

  std::string define(Part& part, PtxStatement& each) {
    if (!is_definition(each)) return {};
    const auto [known, is_new] = by_name_.try_emplace(each.name, definitions_.size());
    if (is_new) {
      definitions_.push_back({&part, &each});
      return {};
    }
    Definition& other = definitions_[known->second];
    if (each.linkage == PtxLinkage::kWeak) return {};
    if (other.statement->linkage == PtxLinkage::kWeak) {
      other = {&part, &each};
      return {};
    }
    return "The objects '" + other.part->name + "' and '" + part.name + "' both define '" + each.name + "'.";
  }

  std::string take_needed() {
    std::vector<const PtxStatement*> open;
    for (const PtxStatement& each : ours_.statements) open.push_back(&each);
    while (!open.empty()) {
      const PtxStatement* each = open.back();
      open.pop_back();
      const auto note = [&](StringRef name) {
        const auto found = by_name_.find(name.str());
        if (found != by_name_.end() && !definitions_[found->second].is_taken) {
          Definition& needed = definitions_[found->second];
          needed.is_taken = true;
          open.push_back(needed.statement);
        }
        if (each->linkage != PtxLinkage::kExtern) mentioned_.insert(name);
        return name;
      };
      replace_ptx_names(each->head, note);
      replace_ptx_names(each->body, note);
    }
    return {};
  }

  // Checks that every function and variable that a file declares extern is defined with that type, here or by the
  // driver.
  std::string check_calls(const PtxFile& file, const std::string& caller) {
    for (const PtxStatement& each : file.statements) {
      if (each.linkage != PtxLinkage::kExtern || !mentioned_.contains(each.name)) continue;
      const auto found = by_name_.find(each.name);
      if (found == by_name_.end()) {
        if (!may_stay_open(each)) return caller + each.name + "', which no object defines.";
        if (opened_.insert(each.name).second) left_open_.push_back(each);
        continue;
      }
      const Definition& definition = definitions_[found->second];
      const PtxStatement& made = *definition.statement;
      if (made.kind == each.kind && made.results == each.results && made.parameters == each.parameters) continue;
      return caller + each.name + "' as a function of " + each.parameters + " with the result " + each.results +
             "; in '" + definition.part->name + "' it is one of " + made.parameters + " with the result " +
             made.results + ".";
    }
    return {};
  }

  // Shared memory that the launch sizes is nobody's, too.
  bool may_stay_open(const PtxStatement& each) const {
    if (each.kind == PtxStatement::Kind::kVariable) return StringRef(each.head).starts_with(".shared");
    return llvm::is_contained(kDriverFunctions, each.name) || llvm::is_contained(later_, each.name);
  }

  static std::string print_extern(const PtxStatement& each) { return ".extern " + each.head + ";\n"; }

  std::string print_ours(const PtxStatement& each) const {
    if (each.linkage == PtxLinkage::kExtern) return {};
    const char* linkage = each.linkage == PtxLinkage::kVisible ? ".visible "
                          : each.linkage == PtxLinkage::kWeak  ? ".weak "
                                                               : "";
    const bool is_variable = each.kind == PtxStatement::Kind::kVariable;
    return linkage + each.head + (is_variable || !each.has_body ? ";\n" : "\n" + each.body + "\n");
  }

  llvm::ArrayRef<std::string> later_;  // What may still be missing.
  PtxFile ours_;
  std::string version_;
  std::vector<Part> parts_;
  std::vector<Definition> definitions_;
  std::map<std::string, size_t> by_name_;
  llvm::StringSet<> names_, mentioned_, opened_;
  std::vector<PtxStatement> left_open_;
};

}  // namespace

std::string link_ptx(std::string& code, llvm::ArrayRef<PtxObject> objects, llvm::ArrayRef<std::string> later) {
  Linking linking(later);
  std::string problem = linking.read(code, objects);
  if (problem.empty()) problem = linking.link();
  if (problem.empty()) code = linking.print();
  return problem;
}

}  // namespace baton::compiler_lite::codegen::cuda
