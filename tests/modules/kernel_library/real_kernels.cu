// Kernels that only a GPU can run as they want: what launches ask of it is seen in what comes out. Compiled by clang without the
// toolkit, for sm_75 and for sm_90, which has clusters and early launches.

// sums[i] = the sum of the elements of i's cluster; a workgroup of one thread has one, where the others of its cluster read it.
extern "C" __global__ void sum_cluster(const float* data, float* sums) {
#if __CUDA_ARCH__ >= 900
  __shared__ float mine;
  mine = data[blockIdx.x];
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
  unsigned size, address = (unsigned)(unsigned long long)(__attribute__((address_space(3))) float*)&mine;
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
  sums[blockIdx.x] = sum;
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");  // Nobody leaves while one reads.
#else
  sums[blockIdx.x] = data[blockIdx.x];
#endif
}

// data[i] = the sum of all elements, in place: a workgroup writes its own once all have read, so all run at the same time.
extern "C" __global__ void sum_all(float* data, int* arrived, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += data[i];
  __nvvm_membar_gl();
  __nvvm_atom_add_gen_i(arrived, 1);
  while (*(volatile int*)arrived < count) {
  }
  data[blockIdx.x] = sum;
}

// The next kernel may begin while this one runs; this one touches nothing before the last one is done.
extern "C" __global__ void increment(float* data) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
  data[threadIdx.x] += 1;
}

// Turns until `flag` is set, then says so: what comes before it on a stream of higher priority has been done.
extern "C" __global__ void wait_for(const int* flag, int* seen) {
  while (*(const volatile int*)flag == 0) {
  }
  *seen = 1;
}
extern "C" __global__ void set_to(int* flag, int value) { *flag = value; }

extern "C" {
__device__ int counters[4] = {1, 2, 3, 4};
}
extern "C" __global__ void read_counters(int* out) { out[threadIdx.x] = ((volatile int*)counters)[threadIdx.x]; }

struct alignas(16) Scaling {
  float factor;
  float offset;
  unsigned long long count;
};
extern "C" __global__ void affine(short bias, const float* x, Scaling scaling, float* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < scaling.count) y[i] = x[i] * scaling.factor + scaling.offset + bias;
}
