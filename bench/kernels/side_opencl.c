/* OpenCL as a side; see side.h. */
#define CL_TARGET_OPENCL_VERSION 120
#include "side.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
#include "sizes_cl.inc"
#include "kernels_cl.inc"
    ;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

#define MOST_KERNELS 32
static struct {
    const char *name;
    cl_kernel kernel;
} kernels[MOST_KERNELS];

static void check(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "bench_kernels: %s: OpenCL error %d\n", what, status);
    exit(1);
}

static cl_mem mem(side_memory memory)
{
    return (cl_mem)(uintptr_t)memory;
}

static side_memory opencl_alloc(size_t bytes)
{
    cl_int status;
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    check(status, "clCreateBuffer");
    return (uintptr_t)m;
}

static void opencl_free(side_memory memory)
{
    clReleaseMemObject(mem(memory));
}

static void opencl_upload(side_memory memory, const void *from, size_t bytes)
{
    check(clEnqueueWriteBuffer(queue, mem(memory), CL_TRUE, 0, bytes, from, 0,
                               NULL, NULL),
          "clEnqueueWriteBuffer");
}

static void opencl_download(void *to, side_memory memory, size_t bytes)
{
    check(clEnqueueReadBuffer(queue, mem(memory), CL_TRUE, 0, bytes, to, 0,
                              NULL, NULL),
          "clEnqueueReadBuffer");
}

static void opencl_zero(side_memory memory, size_t bytes)
{
    cl_int zero = 0;
    check(clEnqueueFillBuffer(queue, mem(memory), &zero, sizeof zero, 0, bytes,
                              0, NULL, NULL),
          "clEnqueueFillBuffer");
}

static cl_kernel find_kernel(const char *name)
{
    int i = 0;
    while (kernels[i].name && strcmp(kernels[i].name, name) != 0)
        i++;
    if (!kernels[i].name) {
        cl_int status;
        kernels[i].kernel = clCreateKernel(program, name, &status);
        check(status, name);
        kernels[i].name = name;
    }
    return kernels[i].kernel;
}

static void opencl_launch(const char *name, const unsigned grid[3],
                          const unsigned block[3], const struct side_arg *args,
                          int count)
{
    cl_kernel kernel = find_kernel(name);
    for (int i = 0; i < count; i++) {
        cl_mem m = mem(args[i].memory);
        bool memory = args[i].kind == SIDE_MEMORY;
        check(clSetKernelArg(kernel, (cl_uint)i, memory ? sizeof m : 4,
                             memory ? (const void *)&m : &args[i].i),
              "clSetKernelArg");
    }
    size_t local[3], global[3];
    for (int d = 0; d < 3; d++) {
        local[d] = block[d];
        global[d] = (size_t)grid[d] * block[d];
    }
    check(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL,
                                 NULL),
          "clEnqueueNDRangeKernel");
}

static void opencl_finish(void)
{
    check(clFinish(queue), "clFinish");
}

static cl_device_id find_device(void)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    cl_device_id device;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < count && i < 8; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device,
                           NULL) == CL_SUCCESS)
            return device;
    return NULL;
}

const struct side *side_opencl(void)
{
    static const struct side side = {
        .name = "PoCL",
        .alloc = opencl_alloc,
        .free = opencl_free,
        .upload = opencl_upload,
        .download = opencl_download,
        .zero = opencl_zero,
        .launch = opencl_launch,
        .finish = opencl_finish,
    };
    cl_int status;
    cl_device_id device = find_device();
    if (!device)
        return NULL;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    const char *source = text;
    program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    check(status, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        static char log[16384];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG,
                              sizeof log - 1, log, NULL);
        fprintf(stderr, "bench_kernels: OpenCL: %s\n", log);
        exit(1);
    }
    return &side;
}
