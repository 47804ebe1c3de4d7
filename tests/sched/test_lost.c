/* A device dies in the middle: what others have survives. */
#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 4000, PART = N / 4, LOST = 2 };

/* Is this process the device of that number of this program? */
static bool is_device(const char *pid, int ordinal)
{
    char path[300], line[256] = "";
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    if (n < 20 || strcmp(line, "softcuda-device") != 0)
        return false;
    const char *number = line + strlen(line) + 1;
    const char *program = number + strlen(number) + 1;
    return atoi(number) == ordinal && atoi(program) == getpid();
}

static void kill_device(int ordinal)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int killed = 0;
    while ((entry = readdir(proc)))
        if (is_device(entry->d_name, ordinal))
            killed += kill(atoi(entry->d_name), SIGKILL) == 0;
    closedir(proc);
    ck_assert_int_eq(killed, 1);
    while (adsmDeviceMemory(ordinal, NULL, NULL) == ADSM_OK)
        usleep(1000);
}

START_TEST(lost_device_costs_only_what_it_alone_had)
{
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    number(x, N, 1);
    for (int i = 0; i < N; i++)
        y[i] = 5;
    must(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES, .sync = 1),
                      kernel("map"), adsmR1(N), adsmIn(x), adsmInOut(y),
                      adsmVal((int){7})));
    kill_device(LOST);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], i / PART == LOST ? 5 : 2 * (i * 61 + 1) + 12);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], i * 61 + 1);

    /* A call that wants it says so, one over the others goes on. */
    expect(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES), kernel("map"),
                        adsmR1(N), adsmIn(x), adsmInOut(y), adsmVal((int){8})),
           ADSM_E_DEVICE_LOST, "device 2");
    for (int i = 0; i < N; i++)
        y[i] = 0;
    must(adsmCallWith(adsmWith(.devices = 1 | 2 | 8), kernel("map"), adsmR1(N),
                      adsmIn(x), adsmInOut(y), adsmVal((int){9})));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], 2 * (i * 61 + 1) + 9);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

SUITE_MAIN("lost", 60, lost_device_costs_only_what_it_alone_had)
