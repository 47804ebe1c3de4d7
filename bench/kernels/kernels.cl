/*
 * The kernels of kernels.cu in OpenCL C, for the peer (PoCL).
 * Built with the text of sizes.h in front.
 */
typedef float4 float4_;
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

kernel void vecadd(global const float *restrict a,
                   global const float *restrict b, global float *restrict c,
                   int n)
{
    int i = (int)get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

/* c = a * b, n a multiple of TILE. */
kernel void sgemm(global const float *restrict a,
                  global const float *restrict b, global float *restrict c,
                  int n)
{
    local float left[TILE][TILE], right[TILE][TILE];
    int x = (int)get_local_id(0), y = (int)get_local_id(1);
    int column = (int)get_group_id(0) * TILE + x,
        row = (int)get_group_id(1) * TILE + y;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        left[y][x] = a[row * n + t + x];
        right[y][x] = b[(t + y) * n + column];
        BARRIER();
        for (int k = 0; k < TILE; k++)
            sum = fma(left[y][k], right[k][x], sum);
        BARRIER();
    }
    c[row * n + column] = sum;
}

/* points: kx, ky, kz, magnitude of phi */
kernel void mriq(global const float4_ *restrict points, int count,
                 global const float *restrict x, global const float *restrict y,
                 global const float *restrict z, global float *restrict qr,
                 global float *restrict qi)
{
    int i = (int)get_global_id(0);
    float px = x[i], py = y[i], pz = z[i], r = 0, q = 0;
    for (int k = 0; k < count; k++) {
        float angle =
            TWO_PI * (points[k].x * px + points[k].y * py + points[k].z * pz);
        r = fma(points[k].w, native_cos(angle), r);
        q = fma(points[k].w, native_sin(angle), q);
    }
    qr[i] = r;
    qi[i] = q;
}

kernel void mandelbrot(global int *restrict out, int width, float left,
                       float top, float step, int most)
{
    int px = (int)get_global_id(0), py = (int)get_global_id(1);
    float cx = left + (float)px * step, cy = top + (float)py * step;
    float x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    out[py * width + px] = n;
}

kernel void reduction(global const int *restrict in, int n,
                      global int *restrict sum)
{
    local int part[BLOCK];
    int me = (int)get_local_id(0), all = (int)get_global_size(0);
    int mine = 0;
    for (int i = (int)get_global_id(0); i < n; i += all)
        mine += in[i];
    part[me] = mine;
    BARRIER();
    for (int reach = BLOCK / 2; reach > 0; reach /= 2) {
        if (me < reach)
            part[me] += part[me + reach];
        BARRIER();
    }
    if (me == 0)
        atomic_add(sum, part[0]);
}

/* Exclusive sums inside each block; the block's total goes to sums. */
kernel void scan_blocks(global const int *restrict in, global int *restrict out,
                        global int *restrict sums)
{
    local int part[2][BLOCK];
    int me = (int)get_local_id(0), i = (int)get_global_id(0), from = 0;
    int value = in[i];
    part[0][me] = value;
    BARRIER();
    for (int step = 1; step < BLOCK; step *= 2) {
        int v = part[from][me];
        if (me >= step)
            v += part[from][me - step];
        from = 1 - from;
        part[from][me] = v;
        BARRIER();
    }
    out[i] = part[from][me] - value;
    if (me == BLOCK - 1)
        sums[get_group_id(0)] = part[from][me];
}

kernel void scan_add(global int *restrict out, global const int *restrict sums)
{
    out[(int)get_global_id(0)] += sums[get_group_id(0)];
}

kernel void histogram(global const unsigned *restrict in, int words,
                      global int *restrict bins)
{
    local int part[BINS];
    part[get_local_id(0)] = 0;
    BARRIER();
    int all = (int)get_global_size(0);
    for (int i = (int)get_global_id(0); i < words; i += all) {
        unsigned v = in[i];
        for (int byte = 0; byte < 4; byte++)
            atomic_add(&part[v >> 8 * byte & 255], 1);
    }
    BARRIER();
    atomic_add(&bins[get_local_id(0)], part[get_local_id(0)]);
}

/* A cube of n cells a side; the faces stay as they are. */
kernel void stencil(global const float *restrict in, global float *restrict out,
                    int n)
{
    int x = (int)get_global_id(0), y = (int)get_global_id(1),
        z = (int)get_global_id(2);
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    int at = (z * n + y) * n + x, plane = n * n;
    float around = in[at - 1] + in[at + 1] + in[at - n] + in[at + n] +
                   in[at - plane] + in[at + plane];
    out[at] = fma(0.1f, around, 0.4f * in[at]);
}

kernel void spmv(global const int *restrict rows,
                 global const int *restrict columns,
                 global const float *restrict values,
                 global const float *restrict x, global float *restrict y,
                 int n)
{
    int row = (int)get_global_id(0);
    if (row >= n)
        return;
    float sum = 0;
    for (int i = rows[row]; i < rows[row + 1]; i++)
        sum = fma(values[i], x[columns[i]], sum);
    y[row] = sum;
}

/* One step of the bitonic network: compare with the element `step` away. */
kernel void bitonic_step(global int *restrict data, int size, int step)
{
    int t = (int)get_global_id(0);
    int i = 2 * t - (t & (step - 1)), k = i + step;
    int a = data[i], b = data[k];
    int ascending = (i & size) == 0;
    int swap = (a > b) == ascending;
    data[i] = swap ? b : a;
    data[k] = swap ? a : b;
}

/* All steps of distance < 2 * BLOCK, in shared memory, for sizes first…last. */
kernel void bitonic_block(global int *restrict data, int first, int last)
{
    local int part[2 * BLOCK];
    int t = (int)get_local_id(0), base = (int)get_group_id(0) * 2 * BLOCK;
    part[t] = data[base + t];
    part[t + BLOCK] = data[base + t + BLOCK];
    for (int size = first; size <= last; size *= 2)
        for (int step = size / 2 < BLOCK ? size / 2 : BLOCK; step > 0;
             step /= 2) {
            BARRIER();
            int i = 2 * t - (t & (step - 1)), k = i + step;
            int a = part[i], b = part[k];
            int ascending = ((base + i) & size) == 0;
            int swap = (a > b) == ascending;
            part[i] = swap ? b : a;
            part[k] = swap ? a : b;
        }
    BARRIER();
    data[base + t] = part[t];
    data[base + t + BLOCK] = part[t + BLOCK];
}

/* bodies: x, y, z, mass */
kernel void nbody(global const float4_ *restrict bodies,
                  global float4_ *restrict force, int n)
{
    local float4_ tile[BLOCK];
    int i = (int)get_global_id(0);
    float4_ me = bodies[i], sum = (float4_)(0);
    for (int t = 0; t < n; t += BLOCK) {
        tile[get_local_id(0)] = bodies[t + (int)get_local_id(0)];
        BARRIER();
        for (int k = 0; k < BLOCK; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y;
            float dz = tile[k].z - me.z;
            float d2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, SOFTENING)));
            float inverse = native_rsqrt(d2);
            float pull = tile[k].w * inverse * inverse * inverse;
            sum.x = fma(dx, pull, sum.x);
            sum.y = fma(dy, pull, sum.y);
            sum.z = fma(dz, pull, sum.z);
        }
        BARRIER();
    }
    force[i] = sum;
}

static inline float exp_(float v)
{
    return native_exp(v);
}

/* Hull's polynomial for the cumulative normal distribution. */
static inline float normal(float d)
{
    float a = d < 0 ? -d : d;
    float k = 1 / fma(0.2316419f, a, 1.0f);
    float tail =
        INV_SQRT_TWO_PI * exp_(-0.5f * d * d) * k *
        (0.319381530f +
         k * (-0.356563782f +
              k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0 ? 1 - tail : tail;
}

kernel void blackscholes(global const float *restrict price,
                         global const float *restrict strike,
                         global const float *restrict years,
                         global float *restrict call,
                         global float *restrict put, int n)
{
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i];
    float root = sqrt(t);
    float log_ = native_log(s / x);
    float d1 = (log_ + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) /
               (VOLATILITY * root);
    float n1 = normal(d1), n2 = normal(d1 - VOLATILITY * root);
    float discount = x * exp_(-RATE * t);
    float c = s * n1 - discount * n2;
    call[i] = c;
    put[i] = c - s + discount;
}

kernel void heat(global const float *restrict in,
                 global const float *restrict power, global float *restrict out,
                 int n)
{
    local float now[TILE][TILE], next[TILE][TILE];
    int tx = (int)get_local_id(0), ty = (int)get_local_id(1);
    int x = (int)get_group_id(0) * HEAT_INNER - HEAT_STEPS + tx;
    int y = (int)get_group_id(1) * HEAT_INNER - HEAT_STEPS + ty;
    int inside = x >= 0 && x < n && y >= 0 && y < n, valid = 0;
    float source = 0;
    if (inside) {
        now[ty][tx] = in[y * n + x];
        source = power[y * n + x];
    }
    BARRIER();
    int west = x > 0 ? tx - 1 : tx, east = x < n - 1 ? tx + 1 : tx;
    int north = y > 0 ? ty - 1 : ty, south = y < n - 1 ? ty + 1 : ty;
    for (int i = 0; i < HEAT_STEPS; i++) {
        valid = inside && tx > i && tx < TILE - 1 - i && ty > i &&
                ty < TILE - 1 - i;
        if (valid) {
            float me = now[ty][tx];
            next[ty][tx] =
                me + HEAT_RATE * (source + now[ty][west] + now[ty][east] +
                                  now[north][tx] + now[south][tx] - 4 * me);
        }
        BARRIER();
        if (valid && i < HEAT_STEPS - 1)
            now[ty][tx] = next[ty][tx];
        BARRIER();
    }
    if (valid)
        out[y * n + x] = next[ty][tx];
}

kernel void bfs_start(global uchar *restrict frontier,
                      global uchar *restrict reached,
                      global uchar *restrict seen, global int *restrict cost,
                      int n)
{
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    frontier[i] = seen[i] = i == 0;
    reached[i] = 0;
    cost[i] = i == 0 ? 0 : -1;
}

kernel void bfs_reach(global const int *restrict rows,
                      global const int *restrict edges,
                      global uchar *restrict frontier,
                      global uchar *restrict reached,
                      global const uchar *restrict seen,
                      global int *restrict cost, int n)
{
    int i = (int)get_global_id(0);
    if (i >= n || !frontier[i])
        return;
    frontier[i] = 0;
    for (int k = rows[i]; k < rows[i + 1]; k++) {
        int to = edges[k];
        if (!seen[to]) {
            cost[to] = cost[i] + 1;
            reached[to] = 1;
        }
    }
}

kernel void bfs_next(global uchar *restrict frontier,
                     global uchar *restrict reached,
                     global uchar *restrict seen, global int *restrict more,
                     int n)
{
    int i = (int)get_global_id(0);
    if (i >= n || !reached[i])
        return;
    frontier[i] = 1;
    seen[i] = 1;
    *more = 1;
    reached[i] = 0;
}
