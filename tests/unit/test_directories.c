/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a place can be written is known before, with the part of the path that is at fault. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directories.h"
#include "cm.h"

#define FACCESSAT2 439 /* on every machine; older headers do not name it */

static char top[] = "/tmp/simpler_directories_XXXXXX";
static char why[320];

static int enter(void **state)
{
    (void)state;
    if (mkdtemp(top) == NULL || chdir(top) != 0 || mkdir("there", 0777) != 0 ||
        mkdir("closed", 0555) != 0 || symlink("nowhere", "dangling") != 0 ||
        symlink("there", "link") != 0 || symlink("loop_b", "loop_a") != 0 ||
        symlink("loop_a", "loop_b") != 0)
        return -1;
    int fd = open("file", O_CREAT | O_WRONLY, 0666);
    return fd < 0 || chmod(top, 0777) != 0 ? -1 : close(fd);
}

static int leave(void **state)
{
    (void)state;
    (void)unlink("file");
    (void)unlink("dangling");
    (void)unlink("link");
    (void)unlink("loop_a");
    (void)unlink("loop_b");
    (void)rmdir("there/a/b");
    (void)rmdir("there/a");
    (void)rmdir("there");
    (void)rmdir("closed");
    return chdir("/") != 0 || rmdir(top) != 0 ? -1 : 0;
}

static void places_that_can_be_had(void **state)
{
    static const char *const paths[] = {
        ".",        "there", "there/",     "new",   "new/er/est", "there/new/",         "link",
        "link/new", "./x",   "there/../y", "//tmp", "/tmp",       "/tmp/simpler_none/a"};

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        why[0] = '\0';
        assert_true(simpler_directories_check(paths[i], why, sizeof(why)));
        assert_string_equal(why, "");
    }
    /* Nothing was made. */
    assert_int_equal(access("new", F_OK), -1);
    assert_int_equal(access("there/new", F_OK), -1);
}

static void places_that_cannot(void **state)
{
    static const char *const rows[][2] = {
        {"file", "file is a file, not a directory"},
        {"file/", "file is a file, not a directory"},
        {"file/a/b", "file is a file, not a directory"},
        {"there/../file/a", "there/../file is a file, not a directory"},
        {"dangling", "dangling is a link to nothing"},
        {"dangling/a", "dangling is a link to nothing"},
        {"loop_a/x", "loop_a/x: Too many levels of symbolic links"},
        {"", "'' is no name"},
        {"/dev/null/a", "/dev/null is a file, not a directory"},
    };
    char path[5000];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_false(simpler_directories_check(rows[i][0], why, sizeof(why)));
        assert_memory_equal(why, rows[i][1], strlen(rows[i][1]));
    }
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_false(simpler_directories_check(path, why, sizeof(why)));
    assert_non_null(strstr(why, "aaa... is too long"));
    assert_false(simpler_directories_check("file", why, 8));
    assert_string_equal(why, "file is");
}

/* As somebody whom the mode counts for. */
static void places_of_others(void **state)
{
    bool root = geteuid() == 0;

    (void)state;
    assert_int_equal(root ? seteuid(65534) : 0, 0);
    bool closed = simpler_directories_check("closed", why, sizeof(why));
    bool below = simpler_directories_check("closed/a/b", why, sizeof(why));
    bool open = simpler_directories_check("new", NULL, 0);
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_false(closed);
    assert_false(below);
    assert_string_equal(why, "closed cannot be written into by this user");
    assert_true(open);
}

/* From here on the system answers the question whether a directory can be written in this way. */
static int answer_access_with(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FACCESSAT2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { YES, NO, CANNOT_ASK };

/* In a process of its own, which keeps that answer. */
static int check_when_access_answers(int error)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (answer_access_with(error) != 0)
            _exit(CANNOT_ASK);
        _exit(simpler_directories_check("there", why, sizeof(why)) ? YES : NO);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* An old sandbox does not know the system call and answers EPERM: that is no refusal. */
static void a_question_that_is_not_answered(void **state)
{
    (void)state;
    int answer = check_when_access_answers(EPERM);
    if (answer == CANNOT_ASK)
        skip();
    assert_int_equal(answer, YES);
    assert_int_equal(check_when_access_answers(EINVAL), YES);
    assert_int_equal(check_when_access_answers(EACCES), NO);
    assert_int_equal(check_when_access_answers(EROFS), NO);
}

static void directories_are_made(void **state)
{
    struct stat info;

    (void)state;
    assert_int_equal(simpler_directories_make("there/a//b/"), 0);
    assert_true(stat("there/a/b", &info) == 0 && S_ISDIR(info.st_mode));
    assert_int_equal(simpler_directories_make("there/a/b"), 0);
    assert_int_equal(simpler_directories_make("link"), 0);
    assert_int_equal(simpler_directories_make("file"), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(simpler_directories_make("file/a"), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(simpler_directories_make("dangling"), -1);
    assert_int_equal(errno, ENOTDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_can_be_had), cmocka_unit_test(places_that_cannot),
        cmocka_unit_test(places_of_others),       cmocka_unit_test(a_question_that_is_not_answered),
        cmocka_unit_test(directories_are_made),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
