/*
 * What kind of file is about to be run: can the loader preload into it?
 *
 * Looks only at the file; never runs or maps it.
 */
#ifndef ADSM_RUN_PROGRAM_H
#define ADSM_RUN_PROGRAM_H

#include <stddef.h>

/** What a file is to the dynamic loader. */
enum program_kind {
    PROGRAM_UNKNOWN,    /* not readable, or no ELF: scripts and the rest   */
    PROGRAM_DYNAMIC,    /* LD_PRELOAD works                                */
    PROGRAM_STATIC,     /* no loader: LD_PRELOAD is never read             */
    PROGRAM_PRIVILEGED, /* set-user-ID or with capabilities: ignored       */
    PROGRAM_OTHER_BITS  /* 32-bit program, 64-bit library: ignored         */
};

/**
 * Find a program the way execvp does.
 *
 * @name  as typed; @path  receives its path; @bytes  room in `path`
 * Return: 0; -1 when nothing executable is found (path then holds `name`)
 */
int program_find(const char *name, char *path, size_t bytes);

/**
 * Classify the file at `path`.
 *
 * Return: its kind; PROGRAM_UNKNOWN where the file cannot be read
 */
enum program_kind program_classify(const char *path);

#endif
