/* SPDX-License-Identifier: Apache-2.0 */
/* The table of subcommands and the two that every program has. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "misuse.h"
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
#define COMMANDS (sizeof(simpler_commands) / sizeof(simpler_commands[0]) - 1)

const struct simpler_command *simpler_commands_find(const char *name)
{
    for (size_t i = 0; simpler_commands[i] != NULL; i++) {
        if (strcmp(simpler_commands[i]->name, name) == 0)
            return simpler_commands[i];
    }
    return NULL;
}

static void print_purposes(FILE *out)
{
    for (size_t i = 0; simpler_commands[i] != NULL; i++)
        (void)fprintf(out, "  %-18s %s\n", simpler_commands[i]->name, simpler_commands[i]->purpose);
}

static void print_overview(FILE *out)
{
    (void)fputs("usage: simpler COMMAND [ARGUMENTS]\n\n", out);
    print_purposes(out);
    (void)fputs("\n`simpler help COMMAND` tells what a command takes.\n", out);
}

int simpler_commands_unknown(const char *who, const char *name)
{
    const char *names[COMMANDS];

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = simpler_commands[i]->name;
    const char *guess = simpler_nearest_guess(name, names, COMMANDS);
    (void)fprintf(stderr, "%s: there is no command '%s'; ", who, name);
    if (guess != NULL)
        (void)fprintf(stderr, "did you mean %s? There are:\n", guess);
    else
        (void)fputs("there are:\n", stderr);
    print_purposes(stderr);
    return SIMPLER_EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
    if (argc > 2)
        return simpler_misuse_error("help", "takes one command, got %d", argc - 1);
    if (argc < 2) {
        print_overview(stdout);
        return SIMPLER_EXIT_OK;
    }
    const struct simpler_command *command = simpler_commands_find(argv[1]);
    if (command == NULL)
        return simpler_commands_unknown("simpler help", argv[1]);
    (void)fputs(command->help, stdout);
    return SIMPLER_EXIT_OK;
}

static int run_version(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return simpler_misuse_error("version", "takes no arguments");
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
