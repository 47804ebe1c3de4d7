/*
 * The roles of shape.h as they are written in the list of hooks: initialisers
 * of struct call_part. Arguments count from 0; `type` is that of one unit, and
 * `count` the argument with the number of units.
 */
#ifndef INTERPOSE_CALLS_ROLES_H
#define INTERPOSE_CALLS_ROLES_H

#include "interpose/calls/shape.h"
#include "interpose/calls/command.h"

#define IN(at, type)              {CALL_IN, at, CALL_ONE, sizeof(type)},
#define IN_EACH(at, count, type)  {CALL_IN, at, count, sizeof(type)},
#define OUT(at, type)             {CALL_OUT, at, CALL_ONE, sizeof(type)},
#define OUT_EACH(at, count, type) {CALL_OUT, at, count, sizeof(type)},
#define FILL(at, count, type)     {CALL_FILL, at, count, sizeof(type)},
#define PATH(at)                  {CALL_PATH, at, CALL_ONE, 1},
#define TEXT(at)                  {CALL_TEXT, at, CALL_ONE, 1},
#define SIZED(at, length, most)   {CALL_SIZED, at, length, most},
#define FDSET(at, count)          {CALL_FDSET, at, count, 1},
#define BULK_IN(at, count)        {CALL_BULK_IN, at, count, 1},
#define BULK_OUT(at, count)       {CALL_BULK_OUT, at, count, 1},
#define LIST_IN(at, count)        {CALL_LIST_IN, at, count, 1},
#define LIST_OUT(at, count)       {CALL_LIST_OUT, at, count, 1},
#define HEADER_IN(at)             {CALL_HEADER_IN, at, CALL_ONE, 1},
#define HEADER_OUT(at)            {CALL_HEADER_OUT, at, CALL_ONE, 1},
#define HEADERS_IN(at, count)     {CALL_HEADERS_IN, at, count, 1},
#define HEADERS_OUT(at, count)    {CALL_HEADERS_OUT, at, count, 1},
#define REQUEST(at, request)      {CALL_REQUEST, at, request, 1},
#define COMMAND(at, whose)        {CALL_COMMAND, at, CALL_ONE, CALL_BY_##whose},
#define WAITS(file, flags)        {CALL_WAITS, file, flags, 0},
#define NUMBER                    {CALL_NUMBER, 0, CALL_ONE, 0},

#endif
