#include "compiler-lite/specs/match_log.hpp"

#include "mlir/IR/Diagnostics.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(baton::compiler_lite::specs::MatchLogPlace)

namespace baton::compiler_lite::specs {
namespace {

void attach(mlir::InFlightDiagnostic& message, const Difference& difference) {
  message.attachNote(difference.program) << difference.what;
  message.attachNote(difference.spec) << "The spec has this.";
}

void attach_closest(mlir::InFlightDiagnostic& message, const PatternRecord& record) {
  if (!record.closest) {
    message.attachNote(record.where) << "The program has no " << record.root << ", which this pattern ends in.";
    return;
  }
  message.attachNote(*record.closest_root)
      << "The closest of " << record.candidates << " candidates: " << record.closest->agreed
      << " operations agree before the first difference.";
  attach(message, *record.closest);
}

// Whether `one` came closer to a match than `other`.
bool closer(const PatternRecord& one, const PatternRecord& other) {
  if (!one.closest) return false;
  return !other.closest || one.closest->agreed > other.closest->agreed;
}

}  // namespace

void MatchLog::begin(bool verbose) {
  records_.clear();
  verbose_ = verbose;
}

void MatchLog::declare(const void* pattern, mlir::Location where, llvm::StringRef root) {
  if (!find(pattern)) records_.push_back({pattern, {where, root.str(), 0, 0, std::nullopt, std::nullopt}});
}

PatternRecord* MatchLog::find(const void* pattern) {
  for (auto& [key, record] : records_) {
    if (key == pattern) return &record;
  }
  return nullptr;
}

void MatchLog::matched(const void* pattern, mlir::Location root) {
  PatternRecord* record = find(pattern);
  if (!record) return;
  ++record->matches;
  if (verbose_) mlir::emitRemark(root).append("The spec matches here.").attachNote(record->where) << "This pattern.";
}

void MatchLog::missed(const void* pattern, mlir::Operation* root, const Difference& difference) {
  PatternRecord* record = find(pattern);
  if (!record || root->getName().getStringRef() != record->root) return;
  ++record->candidates;
  if (!record->closest || difference.agreed > record->closest->agreed) {
    record->closest_root = root->getLoc();
    record->closest = difference;
  }
  if (!verbose_) return;
  mlir::InFlightDiagnostic remark = mlir::emitRemark(root->getLoc())
                                    << "The spec does not match this " << record->root << ".";
  attach(remark, difference);
}

void MatchLog::report(llvm::StringRef file) const {
  const PatternRecord* closest = nullptr;
  bool any = false;
  for (const auto& [key, record] : records_) {
    any |= record.matches != 0;
    if (!closest || closer(record, *closest)) closest = &record;
    if (!verbose_ || record.matches != 0) continue;
    mlir::InFlightDiagnostic remark = mlir::emitRemark(record.where) << "This pattern matches nothing in the program.";
    attach_closest(remark, record);
  }
  if (any || !closest) return;
  mlir::InFlightDiagnostic warning = mlir::emitWarning(closest->where)
                                     << "The spec " << file << " matches nothing in the program.";
  if (!verbose_) attach_closest(warning, *closest);  // otherwise the remarks have said it
}

}  // namespace baton::compiler_lite::specs
