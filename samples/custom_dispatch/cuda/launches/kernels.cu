// Kernels that want more of their launches than a grid and a block: shared memory that is asked for at launch, clusters,
// all workgroups at the same time, an early beginning. What each wants stands in its export (launches.mlir).
#include "../kernels/device.cuh"

#ifndef __CUDACC__
#define __shared__ __attribute__((shared))
static __device__ void __threadfence() { __nvvm_membar_gl(); }
static __device__ int atomicAdd(int* at, int value) { return __nvvm_atom_add_gen_i(at, value); }
#endif

// reversed = data from its end, through shared memory: one workgroup, a float of shared memory for each element, which
// may be more than the 48 KiB that a kernel has unasked.
extern "C" __global__ void reverse(const float* __restrict data, float* __restrict reversed, int count) {
  extern __shared__ float staged[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) staged[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) reversed[i] = staged[count - 1 - i];
}

// sums[i] = the sum of the elements of i's cluster. A workgroup of one thread has one element in its shared memory, where
// the other workgroups of the cluster read it.
extern "C" __global__ void sum_cluster(const float* __restrict data, float* __restrict sums) {
  __shared__ float mine;
  int workgroup = blockIdx.x;
  mine = data[workgroup];
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
  unsigned size, address = (unsigned)(size_t)(__attribute__((address_space(3))) float*)&mine;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  float sum = 0;
  for (unsigned rank = 0; rank < size; ++rank) {
    float theirs;
    asm volatile(
        "{\n\t.reg .u32 there;\n\tmapa.shared::cluster.u32 there, %1, %2;\n\tld.shared::cluster.f32 %0, [there];\n\t}"
        : "=f"(theirs)
        : "r"(address), "r"(rank)
        : "memory");
    sum += theirs;
  }
  sums[workgroup] = sum;
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");  // Nobody leaves while one reads.
}

// data[i] = the sum of all elements, in place: a workgroup may write its element once all have read theirs, so all run at
// the same time and wait for each other. `arrived` begins with 0.
extern "C" __global__ void sum_all(float* data, int* arrived, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += data[i];
  __threadfence();
  atomicAdd(arrived, 1);
  while (*(volatile int*)arrived < count) {
  }
  data[blockIdx.x] = sum;
}

// data += 1. The next kernel may begin while this one runs; this one touches nothing before the last one is done.
extern "C" __global__ void increment(float* data) {
  asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
  data[threadIdx.x] += 1;
}
