/*
 * Repulsion integrals by the scheme of McMurchie and Davidson, in f64: charge
 * distributions are expanded in Hermite Gaussians, whose repulsion follows from
 * Boys' function. It shares nothing with the quadrature it judges but the
 * molecule.
 *
 * Tolerance: 2e-5 hartree, some roundings in f32 of integrals of up to 5.
 */
#include "rpes/rpes.h"

#include <math.h>
#include <stdlib.h>

#define RPES_TOLERANCE 2e-5
/* Quartets of primitives; above, only every n-th integral is verified. */
#define RPES_WORK 1e5

#define ORDERS 5 /* of Boys' function: 0 to four units of p */

/* One function: its shell, and its axis or RPES_NO_AXIS. */
struct function {
    const struct rpes_shell *shell;
    int axis;
};

/* F_m(t) for all m: the series for the highest, then downwards; far out, where
 * that is exact, upwards from F_0. */
static void boys(double t, double *f)
{
    if (t > 35) {
        f[0] = 0.5 * sqrt(M_PI / t);
        for (int m = 0; m + 1 < ORDERS; m++)
            f[m + 1] = ((2 * m + 1) * f[m] - exp(-t)) / (2 * t);
        return;
    }
    double term = 1.0 / (2 * ORDERS - 1), sum = term;
    for (int i = 1; term > 1e-17 * sum; i++) {
        term *= 2 * t / (2 * (ORDERS - 1) + 2 * i + 1);
        sum += term;
    }
    f[ORDERS - 1] = exp(-t) * sum;
    for (int m = ORDERS - 1; m > 0; m--)
        f[m - 1] = (2 * t * f[m] + exp(-t)) / (2 * m - 1);
}

/* Expansion of a product along one axis; a and b are 0 or 1. */
struct expansion {
    double e[3];
};

static struct expansion expand(int a, int b, double pa, double pb, double p)
{
    struct expansion out = {{1, 0, 0}};
    if (a && b)
        out = (struct expansion){
            {pa * pb + 0.5 / p, (pa + pb) * 0.5 / p, 0.25 / p / p}};
    else if (a || b)
        out = (struct expansion){{a ? pa : pb, 0.5 / p, 0}};
    return out;
}

/* R^n_tuv: derivatives of Boys' function. */
static double hermite(const int *order, int n, double scale,
                      const double *distance, const double *f)
{
    if (!order[0] && !order[1] && !order[2])
        return pow(scale, n) * f[n];
    int axis = order[0] ? 0 : order[1] ? 1 : 2;
    int less[3] = {order[0], order[1], order[2]};
    less[axis]--;
    double sum = distance[axis] * hermite(less, n + 1, scale, distance, f);
    if (less[axis]) {
        int count = less[axis]--;
        sum += count * hermite(less, n + 1, scale, distance, f);
    }
    return sum;
}

/* Two primitives as one distribution: expansions and factor. */
struct distribution {
    double exponent, centre[3], factor;
    struct expansion along[3];
};

static double norm(const struct function *function, double exponent)
{
    double s = sqrt(sqrt(8 * pow(exponent / M_PI, 3)));
    return function->axis == RPES_NO_AXIS ? s : s * sqrt(4 * exponent);
}

static struct distribution distribute(const struct function *a,
                                      const struct function *b,
                                      const struct rpes_primitive *i,
                                      const struct rpes_primitive *j)
{
    double one = (double)i->exponent, two = (double)j->exponent;
    struct distribution out = {.exponent = one + two, .factor = 1};
    for (int axis = 0; axis < 3; axis++) {
        double from = (double)a->shell->centre[axis];
        double to = (double)b->shell->centre[axis];
        double centre = (one * from + two * to) / out.exponent;
        out.centre[axis] = centre;
        out.factor *=
            exp(-one * two / out.exponent * (from - to) * (from - to));
        out.along[axis] = expand(a->axis == axis, b->axis == axis,
                                 centre - from, centre - to, out.exponent);
    }
    out.factor *= norm(a, one) * norm(b, two) * (double)i->coefficient *
                  (double)j->coefficient;
    return out;
}

static double repulsion(const struct distribution *p,
                        const struct distribution *q)
{
    double f[ORDERS], distance[3], square = 0, sum = 0;
    double reduced = p->exponent * q->exponent / (p->exponent + q->exponent);
    for (int axis = 0; axis < 3; axis++) {
        distance[axis] = p->centre[axis] - q->centre[axis];
        square += distance[axis] * distance[axis];
    }
    boys(reduced * square, f);
    for (int bra = 0; bra < 27; bra++)
        for (int ket = 0; ket < 27; ket++) {
            int t[3] = {bra % 3, bra / 3 % 3, bra / 9};
            int u[3] = {ket % 3, ket / 3 % 3, ket / 9};
            int order[3];
            double product = 1;
            for (int axis = 0; axis < 3; axis++) {
                product *= p->along[axis].e[t[axis]] *
                           q->along[axis].e[u[axis]] * (u[axis] % 2 ? -1 : 1);
                order[axis] = t[axis] + u[axis];
            }
            if (product != 0)
                sum += product * hermite(order, 0, -2 * reduced, distance, f);
        }
    return 2 * pow(M_PI, 2.5) * sum * p->factor * q->factor /
           (p->exponent * q->exponent * sqrt(p->exponent + q->exponent));
}

static double integral(const struct rpes *rpes, const struct function *four)
{
    const struct rpes_shell *s[4];
    const struct rpes_primitive *all = rpes->primitive;
    double sum = 0;
    for (int i = 0; i < 4; i++)
        s[i] = four[i].shell;
    for (uint32_t i = s[0]->first; i < s[0]->first + s[0]->count; i++)
        for (uint32_t j = s[1]->first; j < s[1]->first + s[1]->count; j++) {
            struct distribution p =
                distribute(&four[0], &four[1], &all[i], &all[j]);
            for (uint32_t k = s[2]->first; k < s[2]->first + s[2]->count; k++)
                for (uint32_t l = s[3]->first; l < s[3]->first + s[3]->count;
                     l++) {
                    struct distribution q =
                        distribute(&four[2], &four[3], &all[k], &all[l]);
                    sum += repulsion(&p, &q);
                }
        }
    return sum;
}

/* The functions of every pair of shells, in the order of the integrals. */
static struct function (*pairs_list(const struct rpes *rpes, int *ends))[2]
{
    struct function(*list)[2] =
        bench_alloc(rpes->kets_bytes / sizeof(struct rpes_ket) * sizeof *list);
    int count = 0, pair = 0;
    for (int i = 0; i < rpes->shells; i++)
        for (int j = 0; j <= i; j++) {
            const struct rpes_shell *a = &rpes->shell[i], *b = &rpes->shell[j];
            for (uint32_t k = 0; k < a->axes * b->axes; k++) {
                int one = (int)(k / b->axes), two = (int)(k % b->axes);
                list[count][0] =
                    (struct function){a, a->axes == 1 ? RPES_NO_AXIS : one};
                list[count++][1] =
                    (struct function){b, b->axes == 1 ? RPES_NO_AXIS : two};
            }
            ends[pair++] = count;
        }
    return list;
}

/* Of a function; shells may share theirs. */
static double mean_primitives(const struct rpes *rpes)
{
    double functions = 0, all = 0;
    for (int i = 0; i < rpes->shells; i++) {
        functions += rpes->shell[i].axes;
        all += (double)rpes->shell[i].axes * rpes->shell[i].count;
    }
    return all / functions;
}

void rpes_verify(const struct rpes *rpes, const float *integrals)
{
    int *ends = bench_alloc((size_t)rpes->pairs * sizeof *ends);
    struct function(*list)[2] = pairs_list(rpes, ends);
    double each = pow(mean_primitives(rpes), 4);
    size_t stride = 1 + (size_t)((double)rpes->integrals * each / RPES_WORK);
    size_t index = 0;
    for (int pair = 0; pair < rpes->pairs; pair++)
        for (int bra = pair ? ends[pair - 1] : 0; bra < ends[pair]; bra++)
            for (int ket = 0; ket < ends[pair]; ket++, index++) {
                if (index % stride)
                    continue;
                struct function four[4] = {list[bra][0], list[bra][1],
                                           list[ket][0], list[ket][1]};
                bench_check("integral", index, (double)integrals[index],
                            integral(rpes, four), RPES_TOLERANCE);
            }
    free(list);
    free(ends);
}
