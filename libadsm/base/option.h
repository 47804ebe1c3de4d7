/*
 * Options from the environment, one list (options.def) for everything: the
 * struct, the parser, `adsm-info --options`, the manual page and docs/options.md.
 *
 * Owns the values and where each came from. Parsed once, by an explicit
 * adsm_options_load; a bad value costs one warning and keeps the default. Does
 * not act on options. No lock: written by adsm_options_load before the runtime
 * has threads of its own, read-only afterwards.
 */
#ifndef ADSM_BASE_OPTION_H
#define ADSM_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of every option with a fixed choice: W(option, CONSTANT, "word"),
 * followed by what else there is to say of one. The value of the option is the
 * constant ADSM_OPT_<option>_<CONSTANT>. */
#include "base/protocols.def"
#define ADSM_WORDS_KERNEL_WRITES(W)                                            \
    W(KERNEL_WRITES, PTX, "ptx")                                               \
    W(KERNEL_WRITES, ALL, "all")
#define ADSM_WORDS_OVERSUBSCRIBE(W)                                            \
    W(OVERSUBSCRIBE, OFF, "0")                                                 \
    W(OVERSUBSCRIBE, ON, "1")                                                  \
    W(OVERSUBSCRIBE, ARGUMENTS, "arguments")
#define ADSM_WORDS_FAULT_ENGINE(W)                                             \
    W(FAULT_ENGINE, AUTO, "auto")                                              \
    W(FAULT_ENGINE, SIGSEGV, "sigsegv")                                        \
    W(FAULT_ENGINE, ASYNC, "async")                                            \
    W(FAULT_ENGINE, UFFD, "uffd")
#define ADSM_WORDS_SYSCALLS(W)                                                 \
    W(SYSCALLS, HOOKS, "hooks")                                                \
    W(SYSCALLS, TRAP, "trap")
#define ADSM_WORDS_ADDRESS(W)                                                  \
    W(ADDRESS, AUTO, "auto")                                                   \
    W(ADDRESS, DIRECT, "direct")                                               \
    W(ADDRESS, WINDOW, "window")                                               \
    W(ADDRESS, OVERLAY, "overlay")                                             \
    W(ADDRESS, TRANSLATE, "translate")                                         \
    W(ADDRESS, ADOPT, "adopt")
#define ADSM_WORDS_HUGE_PAGES(W)                                               \
    W(HUGE_PAGES, AUTO, "auto")                                                \
    W(HUGE_PAGES, ON, "on")                                                    \
    W(HUGE_PAGES, OFF, "off")
#define ADSM_WORDS_FETCH_AHEAD(W)                                              \
    W(FETCH_AHEAD, AUTO, "auto")                                               \
    W(FETCH_AHEAD, EARLY, "early")                                             \
    W(FETCH_AHEAD, SEQUENTIAL, "sequential")                                   \
    W(FETCH_AHEAD, OFF, "off")
#define ADSM_WORDS_POLICY(W)                                                   \
    W(POLICY, STATIC, "static")                                                \
    W(POLICY, EAGER, "eager")                                                  \
    W(POLICY, PRIO, "prio")                                                    \
    W(POLICY, RANDOM, "random")                                                \
    W(POLICY, WS, "ws")                                                        \
    W(POLICY, DM, "dm")                                                        \
    W(POLICY, DMDA, "dmda")                                                    \
    W(POLICY, DMDAR, "dmdar")                                                  \
    W(POLICY, DMDAS, "dmdas")
#define ADSM_WORDS_LOG(W)                                                      \
    W(LOG, ERROR, "error")                                                     \
    W(LOG, WARN, "warn")                                                       \
    W(LOG, INFO, "info")                                                       \
    W(LOG, DEBUG, "debug")

#define ADSM_WORD_ENUM(option, constant, ...) ADSM_OPT_##option##_##constant,
enum adsm_opt_kernel_writes { ADSM_WORDS_KERNEL_WRITES(ADSM_WORD_ENUM) };
enum adsm_opt_oversubscribe { ADSM_WORDS_OVERSUBSCRIBE(ADSM_WORD_ENUM) };
enum adsm_opt_protocol { ADSM_WORDS_PROTOCOL(ADSM_WORD_ENUM) };
enum adsm_opt_fault_engine { ADSM_WORDS_FAULT_ENGINE(ADSM_WORD_ENUM) };
enum adsm_opt_syscalls { ADSM_WORDS_SYSCALLS(ADSM_WORD_ENUM) };
enum adsm_opt_address { ADSM_WORDS_ADDRESS(ADSM_WORD_ENUM) };
enum adsm_opt_huge_pages { ADSM_WORDS_HUGE_PAGES(ADSM_WORD_ENUM) };
enum adsm_opt_fetch_ahead { ADSM_WORDS_FETCH_AHEAD(ADSM_WORD_ENUM) };
enum adsm_opt_policy { ADSM_WORDS_POLICY(ADSM_WORD_ENUM) };
enum adsm_opt_log { ADSM_WORDS_LOG(ADSM_WORD_ENUM) };
#undef ADSM_WORD_ENUM

/** How the text of an option is read. */
enum adsm_option_type {
    ADSM_OPTION_BOOL, /* 0 1 no yes off on false true                     */
    ADSM_OPTION_INT,  /* decimal number                                   */
    ADSM_OPTION_SIZE, /* bytes: number with optional K, M, G or T         */
    ADSM_OPTION_POW2, /* as SIZE, a power of two                          */
    ADSM_OPTION_ENUM, /* one of a list of words                           */
    ADSM_OPTION_LIST, /* numbers and commas, or "cpu": "0,2,cpu"          */
    ADSM_OPTION_PATH, /* a file name                                      */
};

typedef bool adsm_opt_BOOL;
typedef int64_t adsm_opt_INT;
typedef uint64_t adsm_opt_SIZE;
typedef uint64_t adsm_opt_POW2;
typedef int adsm_opt_ENUM;
typedef const char *adsm_opt_LIST; /* NULL when not set */
typedef const char *adsm_opt_PATH; /* NULL when not set */

/** One member per option: the environment name in lower case without ADSM_. */
struct adsm_options {
#define X(field, env, type, def, min, max, words, unit, help)                  \
    adsm_opt_##type field;
#include "base/options.def"
#undef X
};

enum adsm_option_id {
#define X(field, env, type, def, min, max, words, unit, help)                  \
    ADSM_OPTION_ID_##field,
#include "base/options.def"
#undef X
    ADSM_OPTION_COUNT
};

/** Everything there is to say about one option, as texts. */
struct adsm_option_info {
    const char *env; /* "ADSM_BLOCK_SIZE"                        */
    enum adsm_option_type type;
    char type_text[96];    /* "size 4K..1G, a power of two"            */
    char default_text[64]; /* "256K"; "-" for none                     */
    char value_text[256];  /* the value in use, in the same form       */
    const char *source;    /* "default" or "environment"               */
    const char *unit;      /* "bytes", "blocks" or ""                  */
    const char *help;      /* one sentence without a full stop         */
};

/**
 * Options as parsed; the defaults before adsm_options_load.
 *
 * Return: never NULL; the members do not change after adsm_options_load
 * Thread: any
 * Signal: any handler
 */
const struct adsm_options *adsm_options_get(void);

/** Was the value of option `index` (ADSM_OPTION_ID_*) taken from the
 *  environment? Thread: any. Signal: any handler */
bool adsm_option_is_from_environment(size_t index);

/**
 * Parse the environment once; later calls do nothing. Warns about bad values
 * and unknown ADSM_* names. Sets the log level.
 *
 * Thread: any (the first caller parses, the others wait)
 * Signal: never (copies texts with malloc)
 */
void adsm_options_load(void);

/**
 * Parse an environment into a struct; adsm_options_load without its memory.
 *
 * @options   filled with defaults first, then with the values of `environment`
 * @from_env  ADSM_OPTION_COUNT flags: set where a value was taken; may be NULL
 * @environment  NULL-terminated "NAME=value" strings; LIST and PATH values
 *               point into them
 * Return: number of warnings given
 * Thread: any
 * Signal: never
 */
int adsm_options_parse(struct adsm_options *options, bool *from_env,
                       char *const *environment);

/**
 * Describe option `index` with the value in use.
 *
 * @index  0 .. ADSM_OPTION_COUNT-1, in the order of options.def
 * Return: false when there is no such option
 * Thread: any
 * Signal: never
 */
bool adsm_option_info(size_t index, struct adsm_option_info *info);

/**
 * Word of a choice: adsm_option_word(ADSM_OPTION_ID_protocol, value).
 *
 * Return: a literal; "?" when the option is no choice or has no such value
 * Thread: any
 * Signal: any handler
 */
const char *adsm_option_word(enum adsm_option_id option, int value);

/** What stands for "cpu" in a list. */
enum { ADSM_OPTION_CPU = -1 };

/**
 * Take the next number of a list of numbers separated by commas, or "cpu".
 *
 * @list  where it begins; moved to the next one, or to the end of the text
 * Return: false where no number or no comma is where one has to be
 * Thread: any
 * Signal: any handler
 */
bool adsm_option_next(const char **list, int64_t *number);

#endif
