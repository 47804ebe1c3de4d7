/*
 * Files of models: what is there is used only where it is whole and this
 * machine's, and nothing that is there instead is noticed by the program. Each
 * case is a process with a folder of its own.
 */
#include "base/option.h"
#include "common/suite.h"
#include "code/model_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY = 0x1234 };

static char base[64], file[PATH_MAX];
static struct adsm_model model, found;

/* By ADSM_MODELS and the environment's folders, which may be NULL. */
static void begin(const char *models, const char *cache, const char *home)
{
    unsetenv("ADSM_MODELS");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    if (models)
        setenv("ADSM_MODELS", models, 1);
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    if (home)
        setenv("HOME", home, 1);
    adsm_options_load();
    adsm_model_files_init();
}

static char *in_base(const char *name)
{
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", base, name);
    return path[turn];
}

static void set_up(void)
{
    strcpy(base, "/tmp/adsm-models-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    memset(&model, 0, sizeof model);
    strcpy(model.kernel, "put");
    model.key = KEY;
    model.count = 1;
    strcpy(model.line[0].kind, "a device");
    model.line[0].count = 1;
    model.line[0].ns[0] = 2.5;
}

static void tear_down(void)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", base, base);
    ck_assert_int_eq(system(command), 0);
}

/* What the folder has; the name of the last one is kept. */
static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(adsm_model_folder());
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..")) {
            count++;
            snprintf(file, sizeof file, "%s/%s", adsm_model_folder(),
                     entry->d_name);
        }
    if (folder)
        closedir(folder);
    return count;
}

static char said[4096];

/* Lines that a stretch logs, which goes to a file meanwhile. */
static int said_before;
static void listen_begin(void)
{
    fflush(stderr);
    said_before = dup(2);
    int fd = open(in_base("said"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 2);
    close(fd);
}

static int listen_end(void)
{
    int lines = 0;
    dup2(said_before, 2);
    close(said_before);
    FILE *log = fopen(in_base("said"), "r");
    size_t n = fread(said, 1, sizeof said - 1, log);
    said[n] = '\0';
    fclose(log);
    for (size_t i = 0; i < n; i++)
        lines += said[i] == '\n';
    return lines;
}

/* Is not used, which is said once, and what was written next is. */
static void expect_refused(const char *word)
{
    listen_begin();
    ck_assert(!adsm_model_load(KEY, &found));
    ck_assert(!adsm_model_load(KEY, &found));
    int lines = listen_end();
    ck_assert_msg(lines == 1 && strstr(said, word), "%d: %s", lines, said);
    adsm_model_save(&model);
    ck_assert(adsm_model_load(KEY, &found));
    ck_assert_int_eq(found.count, 1);
    ck_assert_int_eq(count_files(), 1);
}

static void begin_with_a_file(void)
{
    begin(in_base("kept"), NULL, NULL);
    ck_assert(!adsm_model_load(KEY, &found));
    adsm_model_save(&model);
    ck_assert_int_eq(count_files(), 1);
}

static void put_in(const void *bytes, size_t count)
{
    FILE *out = fopen(file, "w");
    ck_assert_uint_eq(fwrite(bytes, 1, count, out), count);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(a_folder_is_chosen_by_the_environment)
{
    static const struct {
        const char *models, *cache, *home, *folder;
    } ways[] = {
        {NULL, "/dev/null/cache", "/dev/null/one", "/dev/null/cache/libadsm"},
        {NULL, NULL, "/dev/null/one", "/dev/null/one/.cache/libadsm"},
        {NULL, "not/whole", "/dev/null/one", "/dev/null/one/.cache/libadsm"},
        {NULL, "", "/dev/null/one", "/dev/null/one/.cache/libadsm"},
        {NULL, NULL, NULL, NULL},
        {NULL, NULL, "home", NULL},
        {"off", "/dev/null/cache", "/dev/null/one", NULL},
        {"OFF", "/dev/null/cache", "/dev/null/one", NULL},
        {"read", "/dev/null/cache", "/dev/null/one", "/dev/null/cache/libadsm"},
        {"/dev/null/mine", "/dev/null/cache", "/dev/null/one",
         "/dev/null/mine"},
        {"rad", "/dev/null/cache", "/dev/null/one", NULL},
    };
    const char *folder;
    begin(ways[_i].models, ways[_i].cache, ways[_i].home);
    folder = adsm_model_folder();
    if (ways[_i].folder)
        ck_assert_str_eq(folder, ways[_i].folder);
    else
        ck_assert_ptr_null(folder);
    ck_assert_int_eq(adsm_model_is_written(), folder && (_i != 8 /* read */));
}
END_TEST

START_TEST(a_relative_folder_is_one_of_where_the_program_began)
{
    ck_assert_int_eq(chdir(base), 0);
    begin("./kept", NULL, NULL);
    ck_assert_int_eq(chdir("/"), 0);
    adsm_model_save(&model);
    ck_assert_int_eq(access(in_base("kept"), R_OK), 0);
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(what_is_saved_is_loaded)
{
    begin(NULL, in_base("cache"), NULL);
    ck_assert(!adsm_model_load(KEY, &found));
    adsm_model_save(&model);
    ck_assert(adsm_model_load(KEY, &found));
    ck_assert_str_eq(found.kernel, "put");
    ck_assert_str_eq(found.machine, adsm_model_machine());
    ck_assert_double_eq(found.line[0].ns[0], 2.5);
    ck_assert(!adsm_model_load(KEY + 1, &found));
    /* What others have written stays. */
    model.line[0].footprint = 3;
    adsm_model_save(&model);
    ck_assert(adsm_model_load(KEY, &found));
    ck_assert_int_eq(found.count, 2);
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(garbage_costs_one_line_and_is_replaced)
{
    static const char zeros[100000];
    static const struct {
        const void *bytes;
        size_t count;
    } garbage[] = {{"", 0},
                   {"hello\n", 6},
                   {"libadsm model 1\n", 16},
                   {zeros, 1000},
                   {zeros, sizeof zeros}};
    begin_with_a_file();
    put_in(garbage[_i].bytes, garbage[_i].count);
    expect_refused("is no model");
}
END_TEST

START_TEST(no_file_is_no_file)
{
    begin_with_a_file();
    ck_assert_int_eq(unlink(file), 0);
    switch (_i) {
    case 0: /* a link to what would be one */
        adsm_model_save(&model);
        ck_assert_int_eq(rename(file, in_base("other")), 0);
        ck_assert_int_eq(symlink(in_base("other"), file), 0);
        break;
    case 1:
        ck_assert_int_eq(mkfifo(file, 0600), 0);
        break;
    case 2:
        ck_assert_int_eq(symlink("/dev/zero", file), 0);
        break;
    }
    expect_refused("is no model");
    if (_i == 0)
        ck_assert_int_eq(access(in_base("other"), R_OK), 0);
}
END_TEST

/* Nor is anything else changed. */
START_TEST(a_folder_of_that_name_stays)
{
    begin_with_a_file();
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_int_eq(mkdir(file, 0700), 0);
    listen_begin();
    ck_assert(!adsm_model_load(KEY, &found));
    adsm_model_save(&model);
    ck_assert_int_eq(listen_end(), 1);
    ck_assert_int_eq(count_files(), 1);
    ck_assert_int_eq(rmdir(file), 0);
}
END_TEST

static void replace_in_file(const char *from, const char *to)
{
    char text[4096], changed[4096];
    FILE *in = fopen(file, "r");
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    *at = '\0';
    snprintf(changed, sizeof changed, "%s%s%s", text, to, at + strlen(from));
    put_in(changed, strlen(changed));
}

START_TEST(another_machines_file_costs_one_line)
{
    begin_with_a_file();
    replace_in_file("machine ", "machine that of ");
    expect_refused("another machine's");
}
END_TEST

START_TEST(another_kernels_file_costs_one_line)
{
    begin_with_a_file();
    replace_in_file("1234\n", "1235\n");
    expect_refused("is no model of that kernel");
}
END_TEST

START_TEST(what_cannot_be_written_is_said_once_or_never)
{
    int lines;
    FILE *out = fopen(in_base("no-folder"), "w");
    fclose(out);
    if (_i == 0)
        begin(in_base("no-folder/kept"), NULL, NULL);
    else
        begin(NULL, in_base("no-folder"), NULL);
    listen_begin();
    for (int i = 0; i < 3; i++) {
        ck_assert(!adsm_model_load(KEY, &found));
        adsm_model_save(&model);
    }
    lines = listen_end();
    ck_assert_msg(lines == (_i == 0), "%s", said);
}
END_TEST

/* As where the disk is full: no signal comes, nothing is left, and what was
 * there stays. */
START_TEST(what_is_cut_takes_no_place)
{
    begin_with_a_file();
    struct rlimit least = {20, RLIM_INFINITY}, before;
    getrlimit(RLIMIT_FSIZE, &before);
    model.line[0].ns[0] = 3.5;
    /* Assertions write, too. */
    int limited = setrlimit(RLIMIT_FSIZE, &least);
    adsm_model_save(&model);
    least.rlim_cur = before.rlim_cur;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &least) + limited, 0);
    ck_assert_int_eq(count_files(), 1);
    ck_assert(adsm_model_load(KEY, &found));
    ck_assert_double_eq(found.line[0].ns[0], 2.5);
}
END_TEST

/* Who reads meanwhile finds what one of them has written. */
START_TEST(processes_write_at_once)
{
    begin_with_a_file();
    pid_t child[2];
    for (int c = 0; c < 2; c++) {
        child[c] = fork();
        if (child[c] == 0) {
            adsm_model_files_init();
            model.count = 1 + 60 * c;
            for (int i = 0; i < model.count; i++) {
                model.line[i] = model.line[0];
                model.line[i].device = i;
            }
            for (int i = 0; i < 200; i++)
                adsm_model_save(&model);
            _exit(0);
        }
    }
    for (int left = 2; left > 0;) {
        int status;
        ck_assert(adsm_model_load(KEY, &found));
        ck_assert_double_eq(found.line[0].ns[0], 2.5);
        if (waitpid(-1, &status, WNOHANG) > 0) {
            ck_assert_int_eq(status, 0);
            left--;
        }
    }
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(children_write_nothing)
{
    begin_with_a_file();
    pid_t child = fork();
    if (child == 0)
        _exit(adsm_model_is_written());
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(adsm_model_is_written());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model-file");
    TCase *cases = tcase_create("model-file");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, a_folder_is_chosen_by_the_environment, 0, 11);
    tcase_add_test(cases, a_relative_folder_is_one_of_where_the_program_began);
    tcase_add_test(cases, what_is_saved_is_loaded);
    tcase_add_loop_test(cases, garbage_costs_one_line_and_is_replaced, 0, 5);
    tcase_add_loop_test(cases, no_file_is_no_file, 0, 3);
    tcase_add_test(cases, a_folder_of_that_name_stays);
    tcase_add_test(cases, another_machines_file_costs_one_line);
    tcase_add_test(cases, another_kernels_file_costs_one_line);
    tcase_add_loop_test(cases, what_cannot_be_written_is_said_once_or_never, 0,
                        2);
    tcase_add_test(cases, what_is_cut_takes_no_place);
    tcase_add_test(cases, processes_write_at_once);
    tcase_add_test(cases, children_write_nothing);
    suite_add_tcase(suite, cases);
    return suite_finish(suite);
}
