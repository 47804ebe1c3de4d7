/*
 * What the calls of bench/ranges/containers compute, for the kernel and for
 * the CPU: each element of the output is made of elements of up to two inputs,
 * so that a stale byte is seen in a result. Plain C: device code includes this.
 */
#ifndef BENCH_RANGES_CONTAINERS_MIX_H
#define BENCH_RANGES_CONTAINERS_MIX_H

struct mix {
    long n; /* elements of every array */
    unsigned salt;
    unsigned a_words, b_words, out_words; /* of an element, 4 bytes each */
    unsigned a_whole, b_whole;            /* of the input any element is read */
    unsigned update;                      /* the output is read too */
};

#ifndef MIX_FUNCTION
#define MIX_FUNCTION static inline
#endif

MIX_FUNCTION unsigned mix_read(const struct mix *m, long i, const unsigned *in,
                               unsigned words, unsigned whole)
{
    long k = whole ? (i * 7919 + m->salt) % m->n : i;
    return in[k * words + (unsigned)(i + m->salt) % words];
}

/* Make element `i`; what is NULL is not there. */
MIX_FUNCTION void mix_element(const struct mix *m, long i, const unsigned *a,
                              const unsigned *b, unsigned *out)
{
    unsigned hash = m->salt * 2654435761u + (unsigned)i;
    if (a)
        hash = hash * 31 + mix_read(m, i, a, m->a_words, m->a_whole);
    if (b)
        hash = hash * 31 + mix_read(m, i, b, m->b_words, m->b_whole);
    for (unsigned j = 0; out && j < m->out_words; j++) {
        unsigned before = m->update ? out[i * m->out_words + j] : 0;
        out[i * m->out_words + j] = hash + 31 * before + j;
    }
}

#endif
