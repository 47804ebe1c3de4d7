/*
 * What adsm-run itself exits with; anything else is the program's own.
 */
#ifndef ADSM_RUN_EXITS_H
#define ADSM_RUN_EXITS_H

enum { EXIT_USAGE = 2, EXIT_SETUP = 125, EXIT_CANNOT = 126, EXIT_ABSENT = 127 };

#endif
