/* SPDX-License-Identifier: Apache-2.0 */
/* The table of subcommands and the two that every program has. */
#include "commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simpler/version.h"

const struct simpler_command *const simpler_commands[] = {
    &simpler_cmd_run,
    &simpler_cmd_build,
    &simpler_cmd_info,
    &simpler_cmd_scope_stats_plot,
    &simpler_cmd_dump_viewer,
    &simpler_cmd_recover,
    &simpler_cmd_help,
    &simpler_cmd_version,
    NULL,
};

const struct simpler_command *simpler_commands_find(const char *name)
{
    for (size_t i = 0; simpler_commands[i] != NULL; i++) {
        if (strcmp(simpler_commands[i]->name, name) == 0)
            return simpler_commands[i];
    }
    return NULL;
}

int simpler_commands_usage_error(const char *command, const char *format, ...)
{
    va_list args;

    (void)fprintf(stderr, "simpler %s: ", command);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\n(`simpler help %s` tells what it takes)\n", command);
    return SIMPLER_EXIT_USAGE;
}

static void print_overview(FILE *out)
{
    (void)fputs("usage: simpler COMMAND [ARGUMENTS]\n\n", out);
    for (size_t i = 0; simpler_commands[i] != NULL; i++)
        (void)fprintf(out, "  %-18s %s\n", simpler_commands[i]->name, simpler_commands[i]->purpose);
    (void)fputs("\n`simpler help COMMAND` tells what a command takes.\n", out);
}

static int run_help(int argc, char **argv)
{
    if (argc > 2)
        return simpler_commands_usage_error("help", "takes one command, got %d", argc - 1);
    if (argc < 2) {
        print_overview(stdout);
        return SIMPLER_EXIT_OK;
    }
    const struct simpler_command *command = simpler_commands_find(argv[1]);
    if (command == NULL) {
        (void)fprintf(stderr, "simpler help: there is no command '%s'\n", argv[1]);
        print_overview(stderr);
        return SIMPLER_EXIT_USAGE;
    }
    (void)fputs(command->help, stdout);
    return SIMPLER_EXIT_OK;
}

static int run_version(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return simpler_commands_usage_error("version", "takes no arguments");
    (void)puts("simpler " SIMPLER_VERSION);
    return SIMPLER_EXIT_OK;
}

const struct simpler_command simpler_cmd_help = {
    .name = "help",
    .purpose = "tells what a command takes",
    .help = "usage: simpler help [COMMAND]\n\nWithout COMMAND: the list of commands.\n",
    .run = run_help,
};

const struct simpler_command simpler_cmd_version = {
    .name = "version",
    .purpose = "prints the version",
    .help = "usage: simpler version\n",
    .run = run_version,
};
