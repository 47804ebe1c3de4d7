/*
 * Make pictures to try grey-stream with, the same ones each time.
 *
 *     grey-pictures WIDTHxHEIGHT COUNT FOLDER
 *
 * FOLDER/0.png and so on. Exit: 0; 1: one could not be written; 2: the command
 * line is wrong.
 */
#include "picture.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    int width, height, count;
    char rest;
    if (argc != 4 || sscanf(argv[1], "%dx%d%c", &width, &height, &rest) != 2 ||
        sscanf(argv[2], "%d%c", &count, &rest) != 1 || width < 1 ||
        width > PICTURE_SIDE || height < 1 || height > PICTURE_SIDE ||
        count < 0) {
        fprintf(stderr,
                "usage: grey-pictures WIDTHxHEIGHT COUNT FOLDER, sides from 1 "
                "to %d\n",
                PICTURE_SIDE);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        char path[4096], why[PICTURE_WHY];
        snprintf(path, sizeof path, "%s/%d.png", argv[3], i);
        if (!picture_make(path, width, height, (unsigned)i, why)) {
            fprintf(stderr, "grey-pictures: '%s': %s\n", path, why);
            return 1;
        }
    }
    return 0;
}
