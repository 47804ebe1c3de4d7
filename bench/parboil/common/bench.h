/*
 * What the programs of this folder share: everything that is not about the
 * device.
 *
 * Owns the command line, the clock and its phases, the output file and the
 * digest of what went there, the comparison with the CPU's result, and the
 * report. Does not own data: pointers passed in may be host or shared memory,
 * and nothing here knows which. One program, one benchmark, so the state is
 * the module's own. No locks.
 *
 * These functions end the program on bad input, with one message on stderr:
 * they are the front half of main(), not a library. Only the main thread calls
 * them, and no signal handler.
 */
#ifndef BENCH_PARBOIL_BENCH_H
#define BENCH_PARBOIL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_EXIT_WRONG  1 /* the result is not the CPU's */
#define BENCH_EXIT_INPUT  2 /* bad command line, input or output file */
#define BENCH_EXIT_DEVICE 3

#define BENCH_OPTIONS_MAX 4

/** What the time is charged to. */
enum bench_phase {
    BENCH_SETUP,  /* command line, device, device code, memory */
    BENCH_READ,   /* input files */
    BENCH_CPU,    /* the program's own computing */
    BENCH_KERNEL, /* launching and waiting */
    BENCH_COPY,   /* copies the program makes between host and device */
    BENCH_WRITE,  /* results: digest and output file */
    BENCH_PHASES
};

/** Grid or block dimensions. */
struct bench_dim {
    unsigned x, y, z;
};

/** The compiled kernels, NUL-terminated PTX text. */
extern const char bench_ptx[];

/**
 * Let the command line have one more option that takes a value; before
 * bench_open, at most BENCH_OPTIONS_MAX times.
 *
 * @name   "--png"
 * @about  its line of --help, "--png file     draw the result there"
 * @value  receives the value, unchanged when the option is not given
 */
void bench_option(const char *name, const char *about, const char **value);

/**
 * Read the command line and open the output file, if there is one.
 *
 * @input  path of the input file to use when the command line has none
 * Return: path of the input file; phase BENCH_SETUP runs
 */
const char *bench_open(int argc, char **argv, const char *input);

/**
 * Set-up ends here and work begins: the device is open, memory is there, and
 * the input is read. What every form of a benchmark calls says so, in one
 * place for all. Counts once; reading again, to verify, does not.
 */
void bench_work(void);

/** Charge the time from here on to `phase`. Return: the phase until now. */
enum bench_phase bench_enter(enum bench_phase phase);

/** Note bytes that the program itself copied to or from the device. */
void bench_copied(uint64_t bytes_up, uint64_t bytes_down);

/** Note one kernel call. */
void bench_launched(void);

/**
 * Append a result: to the digest, to the output file, and, when it will be
 * verified, to what bench_result returns. Charged to BENCH_WRITE.
 *
 * @data  given to fwrite as it is
 */
void bench_output(const void *data, size_t bytes);

/**
 * End the measured part: close the output, stop the clock.
 *
 * Return: whether the result is to be verified
 */
bool bench_end(void);

/**
 * Everything given to bench_output, in private memory.
 *
 * @bytes  what it must amount to; anything else ends the program
 */
const void *bench_result(size_t bytes);

/**
 * Compare one value of the result with the CPU's; ends the program with
 * BENCH_EXIT_WRONG when they differ by more than `tolerance` or either is not
 * a number.
 *
 * @what   names the result, "potential"; @index says which value of it
 */
void bench_check(const char *what, size_t index, double got, double want,
                 double tolerance);

/**
 * Print the report. It has the clock where work began, where it ended and
 * where the report is printed, so that who started the program knows what came
 * before and comes behind.
 */
void bench_report(void);

/** Private memory; ends the program when there is none. */
void *bench_alloc(size_t bytes);

/** Print "program: message" and end with `status`. */
_Noreturn void bench_die(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Seconds of the monotonic clock. */
double bench_clock(void);

#endif
