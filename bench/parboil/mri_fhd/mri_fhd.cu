/*
 * The vector F^H d of a magnetic resonance image: for every voxel the sum over
 * the trajectory in k-space of rho * exp(2 pi i k x), with rho the conjugate of
 * the coil's sensitivity times the signal. One thread per voxel, a chunk of the
 * trajectory per call.
 */
#include "adsm_device.h"
#include "mri_fhd_kernel.h"

/* The chunk of the call: all threads read the same number at a time. */
extern "C" {
__constant__ float mri_fhd_values[MRI_FHD_CHUNK * MRI_FHD_NUMBERS];
}

/* rho = conjugate(phi) * data; all three have all real parts, then all
 * imaginary ones. */
extern "C" __global__ void mri_fhd_combine(float *__restrict__ rho,
                                           const float *__restrict__ phi,
                                           const float *__restrict__ data,
                                           int samples)
{
    long i = adsm_thread_x();
    if (i >= samples)
        return;
    float phi_re = phi[i], phi_im = phi[samples + i];
    float data_re = data[i], data_im = data[samples + i];
    rho[i] = adsm_fma(phi_re, data_re, phi_im * data_im);
    rho[samples + i] = adsm_fma(phi_re, data_im, -(phi_im * data_re));
}

static __device__ inline void add(float *__restrict__ f,
                                  const float *__restrict__ place, int voxels,
                                  const float *__restrict__ values, int samples)
{
    long i = adsm_thread_x();
    if (i >= voxels)
        return;
    float x = place[i], y = place[voxels + i], z = place[2 * voxels + i];
    float re = f[i], im = f[voxels + i];
    for (int k = 0; k < samples; k++) {
        const float *value = values + k * MRI_FHD_NUMBERS;
        float turns =
            adsm_fma(value[0], x, adsm_fma(value[1], y, value[2] * z));
        float sine, cosine;
        adsm_sincos_turns(turns, &sine, &cosine);
        re = adsm_fma(value[3], cosine, adsm_fma(-value[4], sine, re));
        im = adsm_fma(value[3], sine, adsm_fma(value[4], cosine, im));
    }
    f[i] = re;
    f[voxels + i] = im;
}

/*
 * Add a chunk to F^H d.
 *
 * f      all real parts, then all imaginary ones
 * place  all x, all y, all z
 */
extern "C" __global__ void mri_fhd_add(float *__restrict__ f,
                                       const float *__restrict__ place,
                                       int voxels, int samples)
{
    add(f, place, voxels, mri_fhd_values, samples);
}

/* The same with the chunk in an object: adsm.h has no constant memory. */
extern "C" __global__ void
mri_fhd_add_from(float *__restrict__ f, const float *__restrict__ place,
                 int voxels, const float *__restrict__ values, int samples)
{
    add(f, place, voxels, values, samples);
}
