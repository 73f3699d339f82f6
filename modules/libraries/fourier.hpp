// Transforms of complex numbers whose parts are two tensors, and of real ones, by plans of FFTW for pairs.
//
// FFTW uses vectors only on aligned memory and is at its best with complex pairs that follow each other, so a transform is
// copied into memory of its own while it is warm. Real numbers are taken two by two as complex ones, where there is an
// even number of them:
//
//   z[k] = x[2k] + i x[2k+1],  Z its transform of m = n/2 pairs
//   X[k] = ((Z[k] + conj Z[m-k]) - i w^k (Z[k] - conj Z[m-k])) / 2,  w = exp(-2 pi i / n)
//
// and the other way round for the inverse; an odd number of them are complex ones without an imaginary part.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <numbers>
#include <span>

#include "modules/libraries/fftw.hpp"

namespace baton::libraries {

// A batch of transforms along the last one to three dimensions, as a program tells it: the sizes of real numbers.
struct FourierShape {
  int64_t batch;
  std::vector<int64_t> sizes;

  static sdk::Result<FourierShape> make(int64_t batch, int64_t a, int64_t b, int64_t c) {
    FourierShape shape{batch, {}};
    int64_t all = batch;
    bool fits = batch >= 0;
    for (const int64_t size : {a, b, c}) {
      fits = fits && size >= 0 && !__builtin_mul_overflow(all, size > 1 ? size : 1, &all);
      if (size > 0) shape.sizes.push_back(size);
    }
    if (fits && !shape.sizes.empty() && all <= INT64_MAX / 16) return shape;
    return sdk::failure(sdk::StatusCode::kInvalidArgument, "A transform has a batch of ", batch, " and the sizes ", a,
                        ", ", b, ", ", c, "; it takes one to three sizes, and 0 for what is none.");
  }
  int64_t last() const { return sizes.back(); }
  // Of a row's coefficients, half of which say all of real numbers.
  int64_t half() const { return last() / 2 + 1; }
  // How many rows a transform has, and how many numbers.
  int64_t rows() const { return elements() / last(); }
  int64_t elements() const {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }
  int64_t half_elements() const { return rows() * half(); }

  // Of the first `count` dimensions, whose elements follow each other after `row` others.
  std::vector<FftwDimension> dimensions(size_t count, int64_t row) const {
    std::vector<FftwDimension> all(count);
    int64_t distance = row;
    for (size_t i = count; i-- > 0;) {
      all[i] = {sizes[i], distance, distance};
      distance *= sizes[i];
    }
    return all;
  }
};

// Memory for pairs, aligned for FFTW. Threads keep a small one.
template <typename T>
class PairMemory {
 public:
  explicit PairMemory(int64_t pairs) {
    const size_t bytes = static_cast<size_t>(pairs) * 2 * sizeof(T);
    if (bytes <= kKeptBytes) {
      alignas(kFftwAlignment) static thread_local std::byte kept[kKeptBytes];
      data_ = reinterpret_cast<T*>(kept);
    } else {
      own_ = static_cast<T*>(::operator new(bytes, std::align_val_t(kFftwAlignment)));
      data_ = own_;
    }
  }
  PairMemory(const PairMemory&) = delete;
  ~PairMemory() {
    if (own_) ::operator delete(own_, std::align_val_t(kFftwAlignment));
  }
  T* data() const { return data_; }

 private:
  static constexpr size_t kKeptBytes = 64 * 1024;

  T* data_;
  T* own_ = nullptr;
};

// Numbers of pairs, so that what follows them is aligned, too.
inline int64_t padded_pairs(int64_t pairs) {
  constexpr int64_t kStep = kFftwAlignment;
  return (pairs + kStep - 1) / kStep * kStep;
}

// Where complex numbers stand: parts of their own have a step of 1, pairs one of 2.
template <typename T, int kStep>
struct Places {
  T *real, *imaginary;

  Places from(int64_t number) const { return {real + kStep * number, imaginary + kStep * number}; }
};
template <typename T>
Places<T, 1> parts(T* real, T* imaginary) {
  return {real, imaginary};
}
template <typename T>
Places<T, 2> pairs_at(T* pairs) {
  return {pairs, pairs + 1};
}

template <typename T, int kFrom, int kTo>
void copy_complex(Places<const T, kFrom> from, Places<T, kTo> to, int64_t count, T factor) {
  for (int64_t i = 0; i < count; ++i) {
    to.real[kTo * i] = from.real[kFrom * i] * factor;
    to.imaginary[kTo * i] = from.imaginary[kFrom * i] * factor;
  }
}

// Transforms `shape.elements()` complex numbers at a time.
template <typename T>
class ComplexTransform {
 public:
  static sdk::Result<ComplexTransform> make(const Fftw<T>& use, const FourierShape& shape, bool is_inverse) {
    const int64_t count = shape.elements();
    BATON_ASSIGN_OR_RETURN(auto plan, FftwPlan<T>::make(use, shape.dimensions(shape.sizes.size(), 1), {1, count, count},
                                                        is_inverse, count > kSpareMost));
    return ComplexTransform(std::move(plan), count, is_inverse ? T(1) / static_cast<T>(count) : T(1));
  }
  // A second place beside the first one is sooner as long as both are in a cache.
  static constexpr int64_t kSpareMost = 32 * 1024;

  void run(Places<const T, 1> from, Places<T, 1> to, int64_t transforms) const {
    const int64_t room = padded_pairs(count_);
    const PairMemory<T> memory(plan_->is_in_place() ? room : 2 * room);
    for (int64_t i = 0; i < transforms; ++i) {
      copy_complex(from.from(i * count_), pairs_at(memory.data()), count_, T(1));
      const T* const made = plan_->run(memory.data(), memory.data() + 2 * room);
      copy_complex(pairs_at(made), to.from(i * count_), count_, factor_);
    }
  }

 private:
  ComplexTransform(std::shared_ptr<const FftwPlan<T>> plan, int64_t count, T factor)
      : plan_(std::move(plan)), count_(count), factor_(factor) {}

  std::shared_ptr<const FftwPlan<T>> plan_;
  int64_t count_;
  T factor_;
};

// A row of real numbers, and the half of its coefficients.
template <typename T>
class RealRow {
 public:
  static sdk::Result<RealRow> make(const Fftw<T>& use, int64_t size, bool is_inverse) {
    RealRow row(size);
    BATON_ASSIGN_OR_RETURN(row.plan_, FftwPlan<T>::make(use, {{row.pairs_, 1, 1}}, {1, row.pairs_, row.pairs_},
                                                        is_inverse, row.pairs_ > ComplexTransform<T>::kSpareMost));
    return row;
  }
  // Pairs that a transform wants room for.
  int64_t room() const { return plan_->is_in_place() ? padded_pairs(pairs_) : 2 * padded_pairs(pairs_); }

  template <int kStep>
  void forward(const T* from, Places<T, kStep> to, T* memory) const {
    if (is_odd()) {
      for (int64_t i = 0; i < size_; ++i) memory[2 * i] = from[i], memory[2 * i + 1] = 0;
      const T* const made = transform(memory);
      return copy_complex(pairs_at(made), to, size_ / 2 + 1, T(1));
    }
    std::memcpy(memory, from, static_cast<size_t>(size_) * sizeof(T));
    take_apart(transform(memory), to);
  }
  // Numbers are multiplied by `factor`; those of the inverse by the size, too.
  template <int kStep>
  void backward(Places<const T, kStep> from, T* to, T factor, T* memory) const {
    is_odd() ? mirror(from, memory) : put_together(from, memory);
    const T* const made = transform(memory);
    const int64_t step = is_odd() ? 2 : 1;
    for (int64_t i = 0; i < size_; ++i) to[i] = made[step * i] * factor;
  }

 private:
  explicit RealRow(int64_t size) : size_(size), pairs_(size % 2 == 0 ? size / 2 : size) {
    if (is_odd()) return;
    for (int64_t k = 0; k < pairs_; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
      cosines_.push_back(static_cast<T>(std::cos(angle)));
      sines_.push_back(static_cast<T>(std::sin(angle)));
    }
  }
  bool is_odd() const { return size_ % 2 != 0; }
  T* transform(T* memory) const { return plan_->run(memory, memory + 2 * padded_pairs(pairs_)); }

  template <int kStep>
  void take_apart(const T* z, Places<T, kStep> to) const {
    const T *const c = cosines_.data(), *const s = sines_.data();
    to.real[0] = z[0] + z[1];
    to.real[kStep * pairs_] = z[0] - z[1];
    to.imaginary[0] = to.imaginary[kStep * pairs_] = 0;
    for (int64_t k = 1; k < pairs_; ++k) {
      const T *const a = z + 2 * k, *const b = z + 2 * (pairs_ - k);
      const T sum = a[1] + b[1], difference = a[0] - b[0];
      to.real[kStep * k] = T(0.5) * (a[0] + b[0] + c[k] * sum - s[k] * difference);
      to.imaginary[kStep * k] = T(0.5) * (a[1] - b[1] - c[k] * difference - s[k] * sum);
    }
  }
  // Twice what the pairs are. What real numbers have no imaginary part of is taken for real.
  template <int kStep>
  void put_together(Places<const T, kStep> from, T* z) const {
    const T *const c = cosines_.data(), *const s = sines_.data();
    z[0] = from.real[0] + from.real[kStep * pairs_];
    z[1] = from.real[0] - from.real[kStep * pairs_];
    for (int64_t k = 1; k < pairs_; ++k) {
      const int64_t a = kStep * k, b = kStep * (pairs_ - k);
      const T sum = from.imaginary[a] + from.imaginary[b], difference = from.real[a] - from.real[b];
      z[2 * k] = from.real[a] + from.real[b] - s[k] * difference - c[k] * sum;
      z[2 * k + 1] = from.imaginary[a] - from.imaginary[b] + c[k] * difference - s[k] * sum;
    }
  }
  template <int kStep>
  void mirror(Places<const T, kStep> from, T* z) const {
    z[0] = from.real[0];
    z[1] = 0;
    for (int64_t k = 1; k <= size_ / 2; ++k) {
      const int64_t other = size_ - k;
      z[2 * k] = z[2 * other] = from.real[kStep * k];
      z[2 * k + 1] = from.imaginary[kStep * k];
      z[2 * other + 1] = -from.imaginary[kStep * k];
    }
  }

  int64_t size_, pairs_;
  std::vector<T> cosines_, sines_;
  std::shared_ptr<const FftwPlan<T>> plan_;
};

// Transforms `shape.elements()` real numbers at a time, or back to so many: rows, and columns of their coefficients.
template <typename T>
class RealTransform {
 public:
  static sdk::Result<RealTransform> make(const Fftw<T>& use, const FourierShape& shape, bool is_inverse) {
    BATON_ASSIGN_OR_RETURN(RealRow<T> row, RealRow<T>::make(use, shape.last(), is_inverse));
    RealTransform all(shape, std::move(row));
    if (shape.sizes.size() == 1) return all;
    BATON_ASSIGN_OR_RETURN(all.columns_, FftwPlan<T>::make(use, shape.dimensions(shape.sizes.size() - 1, shape.half()),
                                                           {shape.half(), 1, 1}, is_inverse, /*is_in_place=*/true));
    return all;
  }

  void forward(const T* from, Places<T, 1> to, int64_t transforms) const {
    const PairMemory<T> memory(row_.room() + coefficients());
    const int64_t rows = shape_.rows(), last = shape_.last(), half = shape_.half();
    for (int64_t i = 0; i < transforms; ++i) {
      T* const between = memory.data() + 2 * row_.room();
      for (int64_t r = 0; r < rows; ++r) {
        const T* const row = from + (i * rows + r) * last;
        columns_ ? row_.forward(row, pairs_at(between).from(r * half), memory.data())
                 : row_.forward(row, to.from(i * half), memory.data());
      }
      if (!columns_) continue;
      const T* const made = columns_->run(between, nullptr);
      copy_complex(pairs_at(made), to.from(i * rows * half), rows * half, T(1));
    }
  }
  void backward(Places<const T, 1> from, T* to, int64_t transforms) const {
    const PairMemory<T> memory(row_.room() + coefficients());
    const int64_t rows = shape_.rows(), last = shape_.last(), half = shape_.half();
    const T factor = T(1) / static_cast<T>(shape_.elements());
    for (int64_t i = 0; i < transforms; ++i) {
      T* const between = memory.data() + 2 * row_.room();
      if (columns_) {
        copy_complex(from.from(i * rows * half), pairs_at(between), rows * half, T(1));
        columns_->run(between, nullptr);
      }
      for (int64_t r = 0; r < rows; ++r) {
        T* const row = to + (i * rows + r) * last;
        columns_ ? row_.backward(pairs_at<const T>(between).from(r * half), row, factor, memory.data())
                 : row_.backward(from.from(i * half), row, factor, memory.data());
      }
    }
  }

 private:
  RealTransform(const FourierShape& shape, RealRow<T> row) : shape_(shape), row_(std::move(row)) {}
  // Pairs between rows and columns.
  int64_t coefficients() const { return columns_ ? shape_.half_elements() : 0; }

  FourierShape shape_;
  RealRow<T> row_;
  std::shared_ptr<const FftwPlan<T>> columns_;
};

}  // namespace baton::libraries
