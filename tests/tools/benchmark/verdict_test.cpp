// A difference is called one only where it exceeds what the repetitions, and the machine itself, differ by.
#include "tools/benchmark/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::tools {
namespace {

using Verdict = Difference::Verdict;

const std::vector<double> kQuiet = {100, 100, 101, 101, 102};
const std::vector<double> kNoisy = {60, 80, 100, 120, 140};

std::vector<double> scaled(std::vector<double> samples, double factor) {
  for (double& sample : samples) sample *= factor;
  return samples;
}
Verdict verdict(const Samples& before, const Samples& now) { return compare(before, now).at(0).verdict; }

TEST(Verdict, EqualRunsAreTheSame) {
  EXPECT_EQ(verdict({{"f", kQuiet}}, {{"f", scaled(kQuiet, 1.02)}}), Verdict::kSame);
}

TEST(Verdict, WhatNoiseHidesIsUnclear) {
  for (const double factor : {0.6, 1.0, 1.3, 1.7}) {
    const auto differences = compare({{"f", kNoisy}, {"g", kQuiet}}, {{"f", scaled(kNoisy, factor)}, {"g", kQuiet}});
    EXPECT_EQ(differences.at(0).verdict, Verdict::kUnclear) << factor;
    EXPECT_EQ(differences.at(1).verdict, Verdict::kSame);
    EXPECT_THAT(describe(differences), testing::EndsWith("\nUnclear, because of the noise: 'f'.\n"));
    EXPECT_EQ(names_with(differences, Verdict::kUnclear), "'f'");
  }
  EXPECT_EQ(verdict({{"f", kNoisy}}, {{"f", scaled(kNoisy, 4)}}), Verdict::kSlower);
  EXPECT_THAT(describe(compare({{"f", kQuiet}, {"g", kNoisy}}, {{"f", scaled(kQuiet, 2)}, {"g", kNoisy}})),
              testing::EndsWith("'f' is 100.0 % slower. Unclear, because of the noise: 'g'.\n"));
}

TEST(Verdict, SlowedFunctionIsNamedWithHowMuch) {
  const auto differences =
      compare({{"f", kQuiet}, {"g", kQuiet}}, {{"f", scaled(kQuiet, 1.5)}, {"g", scaled(kQuiet, 0.5)}});
  EXPECT_EQ(differences.at(0).verdict, Verdict::kSlower);
  EXPECT_EQ(differences.at(1).verdict, Verdict::kFaster);
  const std::string text = describe(differences);
  EXPECT_NE(text.find("'f' is 50.0 % slower, 'g' is 50.0 % faster."), std::string::npos) << text;
}

TEST(Verdict, FewSamplesSayNothing) { EXPECT_EQ(verdict({{"f", {100}}}, {{"f", {300}}}), Verdict::kUnknown); }

TEST(Verdict, SlowerMachineIsNoSlowerFunction) {
  EXPECT_EQ(
      verdict({{"f", kQuiet}, {kReference, kQuiet}}, {{"f", scaled(kQuiet, 1.1)}, {kReference, scaled(kQuiet, 1.1)}}),
      Verdict::kSame);
  EXPECT_EQ(
      verdict({{"f", kQuiet}, {kReference, kQuiet}}, {{"f", scaled(kQuiet, 2)}, {kReference, scaled(kQuiet, 1.95)}}),
      Verdict::kUnclear)
      << "a machine that is half as fast hides what the function does";
  EXPECT_EQ(verdict({{"f", kQuiet}, {kReference, kQuiet}}, {{"f", scaled(kQuiet, 2)}, {kReference, kQuiet}}),
            Verdict::kSlower);
}

TEST(Verdict, RunsWithNothingInCommonSaySo) {
  EXPECT_EQ(describe(compare({{"f", kQuiet}}, {{"g", kQuiet}})), "The runs have no benchmark in common.\n");
}

TEST(Noise, NamesTheWidest) {
  const std::string text = describe_noise({{"f", kQuiet}, {"g", kNoisy}});
  EXPECT_NE(text.find("'g' lies within 40.0 % of its median; do not trust"), std::string::npos) << text;
  EXPECT_NE(describe_noise({{"f", kQuiet}}).find("can be trusted"), std::string::npos);
}

}  // namespace
}  // namespace baton::tools
