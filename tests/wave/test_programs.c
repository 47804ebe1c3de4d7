/*
 * The wave programs on the software device, bare and preloaded, against the
 * reference on the CPU. Tolerance: none. Kernel and reference execute the same
 * chain of roundings, so the same bits are due whoever moved them; how far
 * those are from the exact equation is test_reference.c's question.
 */
#include "common/suite.h"
#include "command.h"
#include "reference.h"

#include <inttypes.h>

#define STEPS  30
#define EVERY  8 /* snapshots after 8, 16, 24 and 30 */
#define FRAMES 4
#define SIZE   "80x24x28"

static char folder[64];
static struct wave setup_wave;
static float *want; /* the pressure after STEPS steps */

/* Velocities, and what is to come out. */
static void setup(void)
{
    static char path[96];
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/v.vol", folder);
    struct command_result made =
        command("'%s/wave-volume' --size " SIZE " --seed 3 '%s'",
                place("WAVE_PROGRAMS"), path);
    ck_assert_msg(made.status == 0, "%s", made.output);

    char *arguments[] = {"test", "--volume", path};
    wave_open(&setup_wave, 3, arguments);
    float *speed = malloc(setup_wave.cells * sizeof *speed);
    float *damping = malloc(setup_wave.damping_count * sizeof *damping);
    want = malloc(setup_wave.cells * sizeof *want);
    ck_assert(speed && damping && want);
    wave_read_speed(&setup_wave, speed);
    wave_fill_damping(&setup_wave, damping);
    ck_assert(reference_run(&setup_wave, speed, damping, STEPS, want));
    free(speed);
    free(damping);
}

static void teardown(void)
{
    free(want);
    scratch_remove(folder);
}

/* The last frame of the snapshots is the wanted one, bit for bit. */
static void snapshots_check(const char *what)
{
    char path[96], why[200];
    struct volume header;
    size_t bytes = setup_wave.cells * sizeof *want;
    snprintf(path, sizeof path, "%s/out.vol", folder);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file, "%s wrote no snapshots", what);
    ck_assert_msg(volume_read_header(file, &header, why, sizeof why),
                  "%s: snapshots %s", what, why);
    ck_assert_uint_eq(header.frames, FRAMES);
    ck_assert_uint_eq(volume_cells(&header), setup_wave.cells);
    float *got = malloc(bytes);
    ck_assert_int_eq(fseek(file, -(long)bytes, SEEK_END), 0);
    ck_assert_uint_eq(fread(got, 1, bytes, file), bytes);
    for (size_t i = 0; i < setup_wave.cells; i++)
        ck_assert_msg(memcmp(&got[i], &want[i], sizeof *got) == 0,
                      "%s: cell %zu of the snapshot is %a, not %a", what, i,
                      (double)got[i], (double)want[i]);
    free(got);
    fclose(file);
}

/* Run one program and hold it to the reference. */
static void program_check(const char *prefix, const char *program)
{
    char what[600], digest[32];
    snprintf(what, sizeof what, "%s %s", prefix, program);
    struct command_result result =
        command("cd '%s' && rm -f out.vol out.png && %s '%s/%s' --volume v.vol "
                "--steps %d --every %d --out out.vol --png out.png --json",
                folder, prefix, place("WAVE_PROGRAMS"), program, STEPS, EVERY);
    ck_assert_msg(result.status == 0, "%s: status %d, said %s", what,
                  result.status, result.output);
    snprintf(digest, sizeof digest, "\"%016" PRIx64 "\"",
             wave_digest(want, setup_wave.cells * sizeof *want));
    snapshots_check(what);
    ck_assert_msg(strstr(result.output, digest), "%s: %s, wanted %s", what,
                  result.output, digest);
    ck_assert_msg(command("test -s '%s/out.png'", folder).status == 0,
                  "%s drew no picture", what);
}

static void bare_prefix(char *prefix, size_t bytes)
{
    snprintf(prefix, bytes, "env LD_LIBRARY_PATH='%s' SOFTCUDA_DEVICES=1",
             place("DEVICE_DIR"));
}

static bool is_there(const char *folder_name, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder_name, name);
    return access(path, X_OK) == 0;
}

START_TEST(explicit_program_bare_matches_the_reference)
{
    char prefix[512];
    setup();
    bare_prefix(prefix, sizeof prefix);
    program_check(prefix, "wave_explicit");
    teardown();
}
END_TEST

/* `_i` picks protocol and block size. */
static const char *const ways[] = {
    "--protocol batch",
    "--protocol lazy",
    "--protocol rolling",
    "--protocol lazy --block-size 4K",
    "--protocol rolling --block-size 4K",
    "--protocol rolling --block-size 64K",
    "--protocol rolling --block-size 1M",
};

static void devices_check(const char *program, int devices, int way)
{
    char prefix[512];
    if (!is_there(place("WAVE_PROGRAMS"), program) ||
        access(place("ADSM_RUN"), X_OK) != 0) {
        printf("%s is not built here\n", program);
        return;
    }
    setup();
    snprintf(prefix, sizeof prefix, "'%s' --soft=%d %s --", place("ADSM_RUN"),
             devices, ways[way]);
    program_check(prefix, program);
    teardown();
}

static void preloaded_check(const char *program, int way)
{
    devices_check(program, 1, way);
}

START_TEST(explicit_program_preloaded_matches_the_reference)
{
    preloaded_check("wave_explicit", _i);
}
END_TEST

START_TEST(ported_program_preloaded_matches_the_reference)
{
    preloaded_check("wave_ported", _i);
}
END_TEST

START_TEST(adsm_program_matches_the_reference)
{
    preloaded_check("wave_adsm", _i);
}
END_TEST

/* `_i` picks the number of devices and the way; three do not divide the planes
 * evenly. */
START_TEST(program_in_parts_matches_the_reference)
{
    int count = sizeof ways / sizeof *ways;
    devices_check("wave_ranges", 1 + _i / count, _i % count);
}
END_TEST

START_TEST(program_in_parts_without_peers_matches_the_reference)
{
    ck_assert_int_eq(setenv("SOFTCUDA_PEER", "0", 1), 0);
    devices_check("wave_ranges", 2, _i);
    unsetenv("SOFTCUDA_PEER");
}
END_TEST

static const char *const managed[] = {"wave_managed", "wave_managed-hints"};

START_TEST(managed_program_bare_matches_the_reference)
{
    char prefix[512];
    setup();
    bare_prefix(prefix, sizeof prefix);
    program_check(prefix, managed[_i]);
    teardown();
}
END_TEST

/* Memory that the runtime leaves alone. `_i` picks program and protocol. */
START_TEST(managed_program_preloaded_matches_the_reference)
{
    preloaded_check(managed[_i % 2], _i / 2);
}
END_TEST

START_TEST(full_disk_is_noticed)
{
    char prefix[512];
    setup();
    bare_prefix(prefix, sizeof prefix);
    static const char *const outputs[] = {"--out /dev/full", "--png /dev/full"};
    for (int i = 0; i < 2; i++) {
        struct command_result result =
            command("cd '%s' && %s '%s/wave_explicit' --volume v.vol "
                    "--steps 2 %s",
                    folder, prefix, place("WAVE_PROGRAMS"), outputs[i]);
        ck_assert_msg(result.status == 2, "status %d, said %s", result.status,
                      result.output);
        ck_assert_msg(strstr(result.output, "No space left"), "said %s",
                      result.output);
    }
    teardown();
}
END_TEST

/* The program sees what the system said, though its buffer is shared memory. */
START_TEST(errors_of_the_system_reach_the_ported_program)
{
    static const char *const programs[] = {"wave_ported", "wave_adsm",
                                           "wave_ranges"};
    char run[600];
    setup();
    for (int i = 0; i < 3; i++) {
        snprintf(run, sizeof run, "'%s' --soft=2 %s -- '%s/%s' --steps 2",
                 place("ADSM_RUN"), ways[_i], place("WAVE_PROGRAMS"),
                 programs[i]);
        struct command_result result =
            command("%s --volume '%s/v.vol' --out /dev/full", run, folder);
        ck_assert_msg(result.status == 2 &&
                          strstr(result.output, "No space left"),
                      "status %d, said %s", result.status, result.output);
        result = command("head -c 100032 '%s/v.vol' | %s --volume /dev/stdin",
                         folder, run);
        ck_assert_msg(result.status == 2 &&
                          strstr(result.output, "ends after 25000 of 53760"),
                      "status %d, said %s", result.status, result.output);
    }
    teardown();
}
END_TEST

START_TEST(velocity_that_is_none_is_refused)
{
    char prefix[512];
    setup();
    bare_prefix(prefix, sizeof prefix);
    struct command_result result = command(
        "cd '%s' && { head -c 32 v.vol; printf '\\000\\000\\200\\277'; "
        "tail -c +37 v.vol; } >bad.vol && %s '%s/wave_explicit' --volume "
        "bad.vol",
        folder, prefix, place("WAVE_PROGRAMS"));
    ck_assert_int_eq(result.status, 2);
    ck_assert_msg(strstr(result.output, "-1 m/s in cell 0"), "said %s",
                  result.output);
    teardown();
}
END_TEST

START_TEST(too_little_device_memory_gives_status_3)
{
    char prefix[512];
    setup();
    bare_prefix(prefix, sizeof prefix);
    struct command_result result =
        command("cd '%s' && '%s/wave-volume' --size 160x160x160 big.vol && "
                "%s SOFTCUDA_MEMORY=32M '%s/wave_explicit' --volume big.vol "
                "--steps 1",
                folder, place("WAVE_PROGRAMS"), prefix, place("WAVE_PROGRAMS"));
    ck_assert_msg(result.status == 3, "status %d, said %s", result.status,
                  result.output);
    ck_assert_msg(strstr(result.output, "CUDA_ERROR_OUT_OF_MEMORY"), "said %s",
                  result.output);
    teardown();
}
END_TEST

int main(void)
{
    int count = sizeof ways / sizeof *ways;
    Suite *suite = suite_create("wave programs");
    TCase *bare = tcase_create("bare");
    tcase_set_timeout(bare, 60);
    tcase_add_test(bare, explicit_program_bare_matches_the_reference);
    tcase_add_loop_test(bare, managed_program_bare_matches_the_reference, 0, 2);
    tcase_add_test(bare, full_disk_is_noticed);
    tcase_add_test(bare, velocity_that_is_none_is_refused);
    tcase_add_test(bare, too_little_device_memory_gives_status_3);
    suite_add_tcase(suite, bare);
    TCase *preloaded = tcase_create("preloaded");
    tcase_set_timeout(preloaded, 60);
    tcase_add_loop_test(
        preloaded, explicit_program_preloaded_matches_the_reference, 0, count);
    tcase_add_loop_test(
        preloaded, ported_program_preloaded_matches_the_reference, 0, count);
    tcase_add_loop_test(preloaded, adsm_program_matches_the_reference, 0,
                        count);
    tcase_add_loop_test(preloaded, program_in_parts_matches_the_reference, 0,
                        3 * count);
    tcase_add_loop_test(preloaded,
                        program_in_parts_without_peers_matches_the_reference, 0,
                        count);
    tcase_add_loop_test(preloaded,
                        managed_program_preloaded_matches_the_reference, 0, 6);
    tcase_add_loop_test(
        preloaded, errors_of_the_system_reach_the_ported_program, 0, count);
    suite_add_tcase(suite, preloaded);
    return suite_finish(suite);
}
