/*
 * Where models of kernels are kept: a file for each kernel and machine, in the
 * folder that ADSM_MODELS names, or else $XDG_CACHE_HOME/libadsm or
 * ~/.cache/libadsm. Other texts may be beside them (adsm-info keeps links there).
 *
 * A file is written beside the old one and then takes its place, so that who
 * reads it finds one or the other. What is no model, or one of another machine,
 * is not used. Nobody notices where that does not work: one line at most is
 * logged by a process. Not for a program that has more rights than its user.
 *
 * Owns the folder's name. Lock: none: it is written once. Thread: any, behind
 * adsm_model_files_init. Signal: never
 */
#ifndef ADSM_CODE_MODEL_FILE_H
#define ADSM_CODE_MODEL_FILE_H

#include "code/model.h"

#include <sys/types.h>

enum adsm_model_state {
    ADSM_MODEL_USED,
    ADSM_MODEL_NONE,    /* there is no such file */
    ADSM_MODEL_DAMAGED, /* it is no model */
    ADSM_MODEL_FOREIGN, /* it is another machine's */
};

/** Once, behind adsm_options_load. Thread: one */
void adsm_model_files_init(void);

/** The folder; NULL: models are neither read nor written. */
const char *adsm_model_folder(void);

/** Is anything written in there, by this process and not a child of it? */
bool adsm_model_is_written(void);

/** What this machine is called in models. */
const char *adsm_model_machine(void);

/** Read a file of the folder. @model  is written to in any case */
enum adsm_model_state adsm_model_read(const char *name,
                                      struct adsm_model *model);

/** Read a text of the folder, of ADSM_MODEL_BYTES at most. Return: its bytes; -1:
 *  there is none; -2: it cannot be read, or is no plain file, or longer */
ssize_t adsm_model_text_read(const char *name, char text[ADSM_MODEL_BYTES]);

/** Write one, whole or not at all. Return: false: errno says why not */
bool adsm_model_text_write(const char *name, const char *text, size_t bytes);

/** Read a kernel's, and say it once where that cannot be used. */
bool adsm_model_load(uint64_t key, struct adsm_model *model);

/** Write a kernel's, beside what the file has of others; the machine is put in. */
void adsm_model_save(const struct adsm_model *model);

#endif
