/*
 * Calling a function of MPI by its name and a list of words.
 */
#ifndef INTERPOSE_MPI_INVOKE_H
#define INTERPOSE_MPI_INVOKE_H

#include "interpose/mpi/mpi.h"

#define MPI_W1  mpi_word
#define MPI_W2  MPI_W1, mpi_word
#define MPI_W3  MPI_W2, mpi_word
#define MPI_W4  MPI_W3, mpi_word
#define MPI_W5  MPI_W4, mpi_word
#define MPI_W6  MPI_W5, mpi_word
#define MPI_W7  MPI_W6, mpi_word
#define MPI_W8  MPI_W7, mpi_word
#define MPI_W9  MPI_W8, mpi_word
#define MPI_W10 MPI_W9, mpi_word
#define MPI_W11 MPI_W10, mpi_word
#define MPI_W12 MPI_W11, mpi_word
#define MPI_W13 MPI_W12, mpi_word
#define MPI_V1  args[0]
#define MPI_V2  MPI_V1, args[1]
#define MPI_V3  MPI_V2, args[2]
#define MPI_V4  MPI_V3, args[3]
#define MPI_V5  MPI_V4, args[4]
#define MPI_V6  MPI_V5, args[5]
#define MPI_V7  MPI_V6, args[6]
#define MPI_V8  MPI_V7, args[7]
#define MPI_V9  MPI_V8, args[8]
#define MPI_V10 MPI_V9, args[9]
#define MPI_V11 MPI_V10, args[10]
#define MPI_V12 MPI_V11, args[11]
#define MPI_V13 MPI_V12, args[12]
#define MPI_INVOKE(n)                                                          \
    case n:                                                                    \
        return ((int (*)(MPI_W##n))at)(MPI_V##n);

/** Call the function behind `name`. Where the arity is known to the compiler
 *  this is that call alone. Return: what it returns, or mpi_absent */
static inline __attribute__((always_inline)) int
mpi_invoke(enum mpi_name name, const mpi_word *args, int arity)
{
    void *at = mpi_real(name);
    if (hook_unlikely(!at))
        return mpi_absent(name);
    switch (arity) {
        MPI_INVOKE(1)
        MPI_INVOKE(2)
        MPI_INVOKE(3)
        MPI_INVOKE(4)
        MPI_INVOKE(5)
        MPI_INVOKE(6)
        MPI_INVOKE(7)
        MPI_INVOKE(8)
        MPI_INVOKE(9)
        MPI_INVOKE(10)
        MPI_INVOKE(11)
        MPI_INVOKE(12)
        MPI_INVOKE(13)
    default:
        return ((int (*)(void))at)();
    }
}

/** The same with the words one by one. */
#define MPI_REAL(name, arity, ...)                                             \
    mpi_invoke(MPI_AT_##name, (const mpi_word[]){__VA_ARGS__}, arity)

#endif
