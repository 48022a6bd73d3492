/* SPDX-License-Identifier: Apache-2.0 */
/* The options of simpler dump-viewer: what they mean and what may go together. */
#include "dump_viewer_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "commands.h"
#include "misuse.h"

#define NAME SIMPLER_DUMP_VIEWER_NAME

const char simpler_dump_viewer_options_help[] =
    "usage: simpler dump-viewer [DIR|FILE] [FILTERS] [--export] [--format F] [--stats] [--json]\n"
    "       simpler dump-viewer [DIR|FILE] --check [--json]\n"
    "\n"
    "Lists the arguments of an args dump, or saves them as files.  DIR holds\n"
    "args_dump.json; without it the newest outputs/*/args_dump is taken and named.\n"
    "With --rounds each round has one, outputs/*/round_<i>/args_dump, which count too.\n"
    "\n"
    "Filters take lists and ranges (0,2-4,9-) and combine:\n"
    "  -t, --task ID     task ids as listed (0x...), or decimal\n"
    "  -s, --stage S     before, after\n"
    "  -r, --role R      input, output, inout\n"
    "  -a, --arg N       argument index in the task\n"
    "      --func N      kernel id; -1 where it is not known (host_build_graph)\n"
    "      --ring N      the high 32 bits of the task id\n"
    "      --dtype T     float32, bfloat16, ...\n"
    "      --kind K      tensor, scalar\n"
    "  -i, --index N     the number in the list's first column; decides alone and exports\n"
    "\n"
    "What to do with them:\n"
    "  -e, --export      save each as DIR/txt/task_<id>_<before|after>_<in|out|inout><arg>.txt\n"
    "      --format F    save as txt, npy, csv or raw, in a folder of that name\n"
    "      --stats       count, min, max, mean, L2 of the finite values; NaN, infinities,\n"
    "                    zeros, subnormals\n"
    "      --check       verify the whole dump: counts, sizes, order, overlaps\n"
    "      --json        for machines\n"
    "\n"
    "txt and csv read back to the same bits: nan(0xM) is a NaN with mantissa M.  In\n"
    ".npy files bfloat16, fp8 and fp4 are integers of the same bits, as the name says.\n"
    "\n"
    "Exit status: 0 shown; 1 a fault in the dump, or no match; 2 bad usage, such as a\n"
    "value that the dump does not have (the nearest ones are listed).\n";

/* Values of options without a letter of their own. */
enum { OPT_FUNC = 256, OPT_DTYPE, OPT_KIND, OPT_RING, OPT_FORMAT, OPT_STATS, OPT_CHECK, OPT_JSON };

static const struct option long_options[] = {
    {"task", required_argument, NULL, 't'},
    {"stage", required_argument, NULL, 's'},
    {"role", required_argument, NULL, 'r'},
    {"arg", required_argument, NULL, 'a'},
    {"index", required_argument, NULL, 'i'},
    {"export", no_argument, NULL, 'e'},
    {"func", required_argument, NULL, OPT_FUNC},
    {"dtype", required_argument, NULL, OPT_DTYPE},
    {"kind", required_argument, NULL, OPT_KIND},
    {"ring", required_argument, NULL, OPT_RING},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"stats", no_argument, NULL, OPT_STATS},
    {"check", no_argument, NULL, OPT_CHECK},
    {"json", no_argument, NULL, OPT_JSON},
    {NULL, 0, NULL, 0},
};

static int add_filter(struct simpler_dump_viewer_options *o, enum simpler_dump_field field,
                      const char *list)
{
    char error[512];
    int rc = simpler_dump_filter_add(&o->filter, field, list, error, sizeof(error));

    if (rc == SIMPLER_EINVAL)
        return simpler_misuse_error(NAME, "%s", error);
    if (rc != 0) {
        (void)fprintf(stderr, "simpler " NAME ": %s\n", simpler_status_text(rc));
        return SIMPLER_EXIT_FAILED;
    }
    return 0;
}

static int set_format(struct simpler_dump_viewer_options *o, const char *name)
{
    const char *names[SIMPLER_DUMP_FORMAT_NUM];
    char answer[SIMPLER_NEAREST_BYTES];

    for (unsigned i = 0; i < SIMPLER_DUMP_FORMAT_NUM; i++) {
        names[i] = simpler_dump_format_name((enum simpler_dump_format)i);
        if (strcmp(name, names[i]) == 0) {
            o->format = (enum simpler_dump_format)i;
            o->wants_export = true;
            return 0;
        }
    }
    return simpler_misuse_error(
        NAME, "--format: there is no format '%s'%s", name,
        simpler_nearest_answer(name, names, SIMPLER_DUMP_FORMAT_NUM, answer, sizeof(answer)));
}

static int take_option(struct simpler_dump_viewer_options *o, int option, char **argv)
{
    switch (option) {
    case 't':
        return add_filter(o, SIMPLER_DUMP_FIELD_TASK, optarg);
    case 's':
        return add_filter(o, SIMPLER_DUMP_FIELD_STAGE, optarg);
    case 'r':
        return add_filter(o, SIMPLER_DUMP_FIELD_ROLE, optarg);
    case 'a':
        return add_filter(o, SIMPLER_DUMP_FIELD_ARG, optarg);
    case 'i':
        o->wants_export = true;
        return add_filter(o, SIMPLER_DUMP_FIELD_INDEX, optarg);
    case OPT_FUNC:
        return add_filter(o, SIMPLER_DUMP_FIELD_FUNC, optarg);
    case OPT_DTYPE:
        return add_filter(o, SIMPLER_DUMP_FIELD_DTYPE, optarg);
    case OPT_KIND:
        return add_filter(o, SIMPLER_DUMP_FIELD_KIND, optarg);
    case OPT_RING:
        return add_filter(o, SIMPLER_DUMP_FIELD_RING, optarg);
    case OPT_FORMAT:
        return set_format(o, optarg);
    case 'e':
        o->wants_export = true;
        return 0;
    case OPT_STATS:
        o->wants_stats = true;
        return 0;
    case OPT_CHECK:
        o->wants_check = true;
        return 0;
    case OPT_JSON:
        o->wants_json = true;
        return 0;
    default:
        return simpler_misuse_getopt(NAME, option, argv, long_options);
    }
}

int simpler_dump_viewer_options_parse(struct simpler_dump_viewer_options *o, int argc, char **argv)
{
    int option;

    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":t:s:r:a:i:e", long_options, NULL)) != -1) {
        int rc = take_option(o, option, argv);
        if (rc != 0)
            return rc;
    }
    if (argc - optind > 1)
        return simpler_misuse_error(NAME, "takes one directory or file, got %d", argc - optind);
    o->path = optind < argc ? argv[optind] : NULL;
    bool filters = simpler_dump_filter_is_set(&o->filter);
    if (o->wants_check && (filters || o->wants_export || o->wants_stats))
        return simpler_misuse_error(NAME, "--check looks at the whole dump; of the other "
                                          "options it takes --json alone");
    return 0;
}
