/*
 * What arrays lie in memory that host and devices share (mm/direct.h): such
 * memory is in no object that could remember.
 *
 * Owns the names. Those of memory that was freed are found by the number of
 * their allocation, and go when there are many. Lock: one, rank MODULE.
 * Thread: any. Signal: never.
 */
#ifndef ADSM_RANGE_SHAPE_H
#define ADSM_RANGE_SHAPE_H

#include "range/spread.h"

/** Remember elem and shape of the array at array->direct. Return: ADSM_OK;
 *  ADSM_E_NOMEM; ADSM_E_NOT_SHARED (freed meanwhile) */
int adsm_shape_say(const struct adsm_array *array) ADSM_MUST_CHECK;

/** The array that begins at `address`. Return: ADSM_OK; ADSM_E_NOT_FOUND: nobody
 *  has said, elem and shape are as they were; ADSM_E_NOT_SHARED */
int adsm_shape_find(const void *address, struct adsm_array *array);

#endif
