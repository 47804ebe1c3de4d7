/*
 * What the loader is told: LD_PRELOAD and the lists of folders.
 */
#ifndef ADSM_RUN_PRELOAD_H
#define ADSM_RUN_PRELOAD_H

#include <stdbool.h>

/** Put `value` before what the list variable `name` already holds. 0; -1 when
 *  there is no memory. */
int preload_prepend(const char *name, const char *value);

/** Whether the loader can take this folder in a list; says so where not. */
bool preload_takes_folder(const char *folder);

/**
 * Have the loader put a library before what it would load by itself. What it is
 * told later comes earlier.
 *
 * @folder, @name  the file
 * Return: 0; -1, which is said
 */
int preload_from(const char *folder, const char *name);

/** The same of one of libadsm's own, wherever it is. */
int preload_own(const char *name);

/** Whether the loader has to look for one by its name, as LD_PRELOAD does not
 *  take the folder's. */
bool preload_is_by_name(void);

#endif
