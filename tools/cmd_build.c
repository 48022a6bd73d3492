/* SPDX-License-Identifier: Apache-2.0 */
/* simpler build: a directory of sources into objects of the cache. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "commands.h"
#include "misuse.h"
#include "scene_dir.h"

static int run_build(int argc, char **argv)
{
    struct simpler_scene_build build;
    const char *dir = NULL;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            return simpler_misuse_error("build", "there is no option %s, nor any other", argv[i]);
        if (dir != NULL)
            return simpler_misuse_error("build", "one directory at a time: '%s' or '%s'?", dir,
                                        argv[i]);
        dir = argv[i];
    }
    if (dir == NULL)
        return simpler_misuse_error("build", "which directory?");
    if (!simpler_scene_dir_is(dir))
        return simpler_misuse_error("build", "%s is no directory", dir);
    int rc = simpler_scene_dir_build("build", dir, &build);
    if (rc == 0)
        (void)printf("%zu source%s: %zu compiled, %zu unchanged\n", build.source_count,
                     simpler_text_plural(build.source_count),
                     build.source_count - build.cached_count, build.cached_count);
    return rc;
}

const struct simpler_command simpler_cmd_build = {
    .name = "build",
    .purpose = "compiles a directory of C++ sources that has a scene.json",
    .help = "usage: simpler build DIR\n"
            "\n"
            "Compiles the orchestration and the kernels that DIR/scene.json names, several at\n"
            "a time, with $CXX (default c++) and $CXXFLAGS.  Objects are kept by their content\n"
            "in $SIMPLER_CACHE_DIR, else in simpler of $XDG_CACHE_HOME or ~/.cache: what is\n"
            "there already is not compiled again, and a changed header is noticed.  Beyond\n"
            "256 MiB what was not used for longest goes, but nothing that was used within the\n"
            "last hour; the cache may be removed at any time.  `simpler run DIR` builds by\n"
            "itself.  docs/porting.md tells what scene.json holds.\n"
            "Exit status: 0 all compiled, 1 not, 2 bad usage.\n",
    .run = run_build,
};
