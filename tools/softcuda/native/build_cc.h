/*
 * The system's C compiler: which one, with which flags, and one run of it.
 *
 * Owns flags, limits and runs. Does not own the text or where objects live.
 * Lock: none; the keepers of running processes are in a table of atomics.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_CC_H
#define SOFTCUDA_NATIVE_BUILD_CC_H

#include "native/build_child.h"
#include "native/build_options.h"

#define SC_BUILD_CC_WORDS 48

/** A compiler that was found; the words of `argv` lie in `words`. */
struct sc_build_cc {
    char words[SC_BUILD_PATH];
    char *argv[SC_BUILD_CC_WORDS]; /* up to the flags, then NULL */
    int argc;
    struct sc_build_limits limits; /* of one run */
    /* path, size and time of the program, flags, CPU: part of cache keys */
    char identity[2 * SC_BUILD_PATH];
};

/**
 * Find the compiler of the options on the PATH and settle its flags.
 *
 * @why receives one sentence when there is none
 * Return: false: there is no such program
 * Thread: any
 * Signal: never
 */
bool sc_build_cc_find(struct sc_build_cc *cc,
                      const struct sc_build_options *options, char *why,
                      size_t why_bytes);

/** How a run ended. */
enum sc_build_cc_end {
    SC_BUILD_CC_DONE,
    SC_BUILD_CC_FAILED,
    SC_BUILD_CC_OVER, /* more processor time or memory than the limits give */
    SC_BUILD_CC_LATE, /* cut by the clock: the machine may have been busy */
};

/**
 * Compile C text to a shared object; takes about a tenth of a second.  Large
 * texts get less optimisation.
 *
 * @least with as little effort as there is; code without much is still faster
 * @text  C, ends in NUL; @object path of the file to make
 * @why   receives one sentence when it fails: the compiler's first message
 * @log   NULL, or a file that receives all the compiler said
 * Return: DONE: the object is there
 * Thread: any, several at a time
 * Signal: never
 */
enum sc_build_cc_end sc_build_cc_run(const struct sc_build_cc *cc, bool least,
                                     const char *text, const char *object,
                                     char *why, size_t why_bytes,
                                     const char *log);

/** Return: whether a text is so large that it gets the least effort anyway. */
bool sc_build_cc_has_least(const char *text);

/**
 * The process ends: end running compilers and start no more. Their runs
 * return false; the next sc_build_cc_find allows runs again.
 *
 * Thread: any
 * Signal: any handler
 */
void sc_build_cc_stop(void);

/** Return: whether runs fail because of sc_build_cc_stop. Thread: any. */
bool sc_build_cc_is_stopped(void);

#endif
