# Links the kernels of example.bvm with functions.ptx by CUDA's own tools and prints the symbols of what comes out:
#   link.sh baton-dump-module ptxas nvlink, in the folder of both files.
set -e
rm -rf linked
"$1" example.bvm --extract=linked
"$2" -c -arch=sm_90 linked/kernels.cuda-ptx-compute_75.ptx -o linked/kernels.o
"$2" -c -arch=sm_90 functions.ptx -o linked/functions.o
"$3" -arch=sm_90 linked/kernels.o linked/functions.o -o linked/program.cubin
readelf --symbols --wide linked/program.cubin
