/*
 * The matrix Q of a scanner: for every voxel the sum over the trajectory in
 * k-space of weight * exp(2 pi i k x). One thread per voxel, a chunk of the
 * trajectory per call.
 */
#include "adsm_device.h"
#include "mri_q_kernel.h"

/* The chunk of the call: all threads read the same number at a time. */
extern "C" {
__constant__ float mri_q_values[MRI_Q_CHUNK * MRI_Q_NUMBERS];
}

/* weight[i] = |phi[i]|^2; phi has all real parts, then all imaginary ones. */
extern "C" __global__ void mri_q_weigh(float *__restrict__ weight,
                                       const float *__restrict__ phi,
                                       int samples)
{
    long i = adsm_thread_x();
    if (i >= samples)
        return;
    float re = phi[i], im = phi[samples + i];
    weight[i] = adsm_fma(re, re, im * im);
}

static __device__ inline void add(float *__restrict__ q,
                                  const float *__restrict__ place, int voxels,
                                  const float *__restrict__ values, int samples)
{
    long i = adsm_thread_x();
    if (i >= voxels)
        return;
    float x = place[i], y = place[voxels + i], z = place[2 * voxels + i];
    float re = q[i], im = q[voxels + i];
    for (int k = 0; k < samples; k++) {
        const float *value = values + k * MRI_Q_NUMBERS;
        float turns =
            adsm_fma(value[0], x, adsm_fma(value[1], y, value[2] * z));
        float sine, cosine;
        adsm_sincos_turns(turns, &sine, &cosine);
        re = adsm_fma(value[3], cosine, re);
        im = adsm_fma(value[3], sine, im);
    }
    q[i] = re;
    q[voxels + i] = im;
}

/*
 * Add a chunk to Q.
 *
 * q      all real parts, then all imaginary ones
 * place  all x, all y, all z
 */
extern "C" __global__ void mri_q_add(float *__restrict__ q,
                                     const float *__restrict__ place,
                                     int voxels, int samples)
{
    add(q, place, voxels, mri_q_values, samples);
}

/* The same with the chunk in an object: adsm.h has no constant memory. */
extern "C" __global__ void
mri_q_add_from(float *__restrict__ q, const float *__restrict__ place,
               int voxels, const float *__restrict__ values, int samples)
{
    add(q, place, voxels, values, samples);
}
