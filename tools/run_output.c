/* SPDX-License-Identifier: Apache-2.0 */
#include "run_output.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directories.h"
#include "misuse.h"

/* Room for "_N" and "/round_N". */
#define TAIL_BYTES 32
#define MAX_TAKEN  10000

/* What a file name should not have becomes '_'. */
static void sanitise(char *name)
{
    for (; *name != '\0'; name++) {
        if (!isalnum((unsigned char)*name) && strchr("._-+", *name) == NULL)
            *name = '_';
    }
}

/*
 * OUT/latest names the directory; what stands there and is no link stays.  Two runs
 * at once each put their own link in place, and the last one stands.
 */
static void link_latest(const char *out_dir, const char *prefix)
{
    char link[SIMPLER_RUN_PREFIX_BYTES + TAIL_BYTES], fresh[sizeof(link) + TAIL_BYTES];
    struct stat info;

    (void)snprintf(link, sizeof(link), "%s/latest", out_dir);
    if (lstat(link, &info) == 0 && !S_ISLNK(info.st_mode))
        return;
    (void)snprintf(fresh, sizeof(fresh), "%s.%ld", link, (long)getpid());
    (void)unlink(fresh);
    if (symlink(strrchr(prefix, '/') + 1, fresh) == 0 && rename(fresh, link) == 0)
        return;
    (void)fprintf(stderr, "simpler run: warning: %s: %s\n", link, strerror(errno));
    (void)unlink(fresh);
}

int simpler_run_output_check(const struct simpler_run_options *options, bool makes)
{
    const char *out_dir = options->out_dir;
    char why[320];

    if (simpler_directories_check(out_dir, why, sizeof(why))) {
        if (!makes || simpler_directories_make(out_dir) == 0)
            return 0;
        (void)snprintf(why, sizeof(why), "%.200s%s cannot be made: %s", out_dir,
                       strlen(out_dir) > 200 ? "..." : "", strerror(errno));
    }
    return simpler_misuse_error("run",
                                "--out: %s; name a directory that can be written into (it is made "
                                "when it is missing)",
                                why);
}

int simpler_run_output_make(const struct simpler_run_options *options, const char *scene,
                            const char *scene_case, char prefix[SIMPLER_RUN_PREFIX_BYTES])
{
    char name[256], stamp[32];
    time_t now = time(NULL);
    struct tm local;

    (void)strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", localtime_r(&now, &local));
    (void)snprintf(name, sizeof(name), "%.100s_%.100s_%s", scene, scene_case, stamp);
    sanitise(name);
    int length = snprintf(prefix, SIMPLER_RUN_PREFIX_BYTES, "%s/%s", options->out_dir, name);
    if (length >= SIMPLER_RUN_PREFIX_BYTES - TAIL_BYTES)
        return simpler_misuse_error("run", "--out: the path %.64s... is too long",
                                    options->out_dir);
    /* It was there before the first run, and may be gone since. */
    int error = simpler_directories_make(options->out_dir) != 0 ? errno : 0;
    for (int i = 2; mkdir(prefix, 0777) != 0; i++) {
        if (errno != EEXIST || i > MAX_TAKEN) {
            (void)fprintf(stderr, "simpler run: %s: cannot be created: %s\n",
                          error != 0 ? options->out_dir : prefix,
                          strerror(error != 0 ? error : errno));
            return 0;
        }
        (void)snprintf(prefix + length, TAIL_BYTES, "_%d", i);
    }
    link_latest(options->out_dir, prefix);
    return 0;
}

void simpler_run_output_round(const struct simpler_run_options *options, const char *prefix,
                              uint32_t index, char out[SIMPLER_RUN_PREFIX_BYTES])
{
    int length = snprintf(out, SIMPLER_RUN_PREFIX_BYTES, "%s", prefix);

    if (options->rounds > 1)
        (void)snprintf(out + length, SIMPLER_RUN_PREFIX_BYTES - (size_t)length, "/round_%" PRIu32,
                       index + 1);
}
