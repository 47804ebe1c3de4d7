/*
 * Files that the driver keeps open: programs close descriptors that are not
 * theirs (daemons close all), and files of their own get the numbers. A number
 * is therefore looked at before each use: nothing of the device may be written
 * into a file of the program, nor be read from it.
 *
 * No lock: fixed once noted.
 */
#ifndef SOFTCUDA_DRIVER_FILE_H
#define SOFTCUDA_DRIVER_FILE_H

#include <stdbool.h>
#include <stdint.h>

/** Zeroed: no file. */
struct sc_file {
    int number;
    bool open;
    uint64_t device, inode; /* what was behind the number */
};

/**
 * Make a file of memory. One that is larger than files may be would cost the
 * program a SIGXFSZ.
 *
 * Return: its descriptor; -1, sc_file_why knows why
 * Thread: any
 */
int sc_file_make(const char *name, uint64_t bytes);

/** What errno says of files of memory, in words. Thread: any */
const char *sc_file_why(void);

/** Keep what is behind a descriptor, or nothing for -1. */
struct sc_file sc_file_note(int number);

/**
 * The descriptor of a file that is kept.
 *
 * Return: -1 where the program has closed it, whatever has its number now
 * Thread: any
 */
int sc_file_number(const struct sc_file *file);

#endif
