/* For clang without the CUDA SDK: no header, only attributes and builtins. */
#define global   __attribute__((global))
#define device   __attribute__((device))
#define shared   __attribute__((shared))
#define constant __attribute__((constant))
#define TX __nvvm_read_ptx_sreg_tid_x()
#define TY __nvvm_read_ptx_sreg_tid_y()
#define BX __nvvm_read_ptx_sreg_ctaid_x()
#define NX __nvvm_read_ptx_sreg_ntid_x()

constant float taps[7];
device int *chain[2];

extern "C" global void convolve(const float *in, float *out, int n)
{
    shared float tile[256 + 6];
    int i = BX * 250 + TX;
    tile[TX] = i < n ? in[i] : 0.f;
    __syncthreads();
    float v = 0.f;
    for (int k = 0; k < 7; k++)
        v += taps[k] * tile[TX + k];
    if (TX < 250 && i < n)
        out[i] = v * __nvvm_sqrt_rn_f(v * v);
}

extern "C" global void sort_rows(int *rows, long long *moves, int n)
{
    int mine[16];
    long long count = 0;
    int *row = rows + (BX * NX + TX) * 16;
    for (int i = 0; i < 16; i++)
        mine[i] = row[i];
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && mine[k - 1] > mine[k]; k--, count++) {
            int t = mine[k];
            mine[k] = mine[k - 1];
            mine[k - 1] = t;
        }
    for (int i = 0; i < 16; i++)
        row[i] = mine[i];
    moves[BX * NX + TX] = count;
}

extern "C" global void collect(const float *in, float *sum, int *votes, int n)
{
    int i = BX * NX + TX;
    float v = i < n ? in[i] : 0.f;
    for (int d = 16; d; d >>= 1)
        v += __nvvm_shfl_sync_down_f32(~0u, v, d, 31);
    if ((TX & 31) == 0) {
        __nvvm_atom_add_gen_f(sum, v);
        __nvvm_atom_max_gen_i(votes, i);
    }
}
