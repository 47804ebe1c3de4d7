/*
 * What a program to come is run with: its name, its arguments and its
 * environment, in memory that may be shared, lists and strings alike.
 *
 * The kernel reads them, and a child that is about to run it has every signal
 * blocked. So they are copied. Owns nothing. No lock.
 */
#ifndef INTERPOSE_CALLS_WORDS_H
#define INTERPOSE_CALLS_WORDS_H

/** What runs it, with what the kernel can read. Return: as the function of libc
 *  that `context` knows */
typedef int words_issue_fn(void *context, const char *path, char *const *argv,
                           char *const *envp);

/**
 * Call `issue` with plain copies of what is shared, and with the rest as it is.
 *
 * @argv @envp  up to NULL; they may be NULL
 * Return: what `issue` returned; -1 with errno ENOMEM: there is no memory for
 *         copies
 * Thread: any, also that of a vfork: where a program takes over and the copies
 *         are large, their memory stays with the parent. Signal: any handler,
 *         where shared memory may be touched
 */
int words_issue(words_issue_fn *issue, void *context, const char *path,
                char *const *argv, char *const *envp);

#endif
