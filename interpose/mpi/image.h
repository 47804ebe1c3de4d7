/*
 * A buffer of an MPI call: where its bytes are, and what MPI gets in its place.
 *
 * A buffer is *parts*, each some elements of a datatype one after another. What
 * MPI reads is lent (the shadow address) where one object has all of it. What
 * it writes, and what lies in several objects, gets an *image*: plain memory in
 * which each byte has the same distance from the given address as in the
 * program. Bytes in gaps of a datatype are neither read nor written: an image
 * moves through MPI_Pack and MPI_Unpack where there are gaps.
 */
#ifndef INTERPOSE_MPI_IMAGE_H
#define INTERPOSE_MPI_IMAGE_H

#include "interpose/mpi/abi.h"

struct mpi_part {
    uintptr_t at; /* where the program would say its elements begin */
    long long count;
    mpi_word type;
};

struct mpi_image {
    uint8_t access;
    mpi_word buffer;        /* as the program gave it                       */
    uintptr_t low, high;    /* all bytes of all parts                       */
    struct mpi_part *parts; /* &one, or allocated                           */
    int count;
    struct mpi_part one;
    char *memory; /* the image; NULL: lent or plain                         */
};

/** All bytes of a buffer, whatever the status says. */
#define MPI_ALL_BYTES (-1LL)

/**
 * Describe one buffer of a call. The image owns memory until mpi_image_close.
 *
 * Return: false when it has no bytes, does not count here, or is not as MPI
 *         wants it, which MPI then says
 * Thread: any. Signal: never
 */
bool mpi_image_describe(const struct mpi_row *row,
                        const struct mpi_buffer *buffer, const mpi_word *args,
                        struct mpi_image *image);

/** Is any byte of it shared? Thread: any. Signal: never */
bool mpi_image_is_shared(const struct mpi_image *image);

/**
 * What to give to MPI: begin a loan for reading or make an image, filled where
 * its contents count.
 *
 * @lasting  an image in any case, not filled: of a persistent request
 * @given    receives the address
 * Return: ADSM_OK; a status of the runtime: nothing to close but the parts
 * Thread: any. Signal: never
 */
int mpi_image_open(struct mpi_image *image, bool lasting, mpi_word *given);

/** Bring the program's bytes into the image. Return: a status */
int mpi_image_fill(const struct mpi_image *image);

/**
 * Bring what MPI wrote into the program's memory.
 *
 * @arrived  bytes of data, in the order of the datatype, or MPI_ALL_BYTES
 * Return: a status
 */
int mpi_image_put(const struct mpi_image *image, long long arrived);

/** Give everything back. */
void mpi_image_close(struct mpi_image *image);

#endif
