/*
 * Runs a fuzz target on files, and on all files of folders: the inputs that
 * were found once, by any compiler and under any sanitizer.
 *
 *     replay FILE-OR-FOLDER...
 *
 * Prints how many there were. A folder without a file fails: the corpus went
 * astray.
 */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static int count;

static int run_file(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0) {
        perror(path);
        return 1;
    }
    size_t bytes = (size_t)about.st_size;
    uint8_t *data = malloc(bytes + 1);
    int wrong = !data || fread(data, 1, bytes, file) != bytes;
    fclose(file);
    if (wrong)
        perror(path);
    else {
        /* the last one on standard error is the one that failed */
        fprintf(stderr, "%s\n", path);
        wrong = LLVMFuzzerTestOneInput(data, bytes);
        count++;
    }
    free(data);
    return wrong;
}

static int run_folder(const char *path)
{
    int wrong = 0, before = count;
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char inside[4096];
        if (*entry->d_name == '.')
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        wrong |= run_file(inside);
    }
    if (folder)
        closedir(folder);
    if (count == before)
        fprintf(stderr, "%s: no inputs\n", path);
    return wrong || count == before;
}

int main(int argc, char **argv)
{
    int wrong = argc < 2;
    for (int i = 1; i < argc; i++) {
        struct stat about;
        if (stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode))
            wrong |= run_folder(argv[i]);
        else
            wrong |= run_file(argv[i]);
    }
    printf("%d inputs\n", count);
    return wrong;
}
