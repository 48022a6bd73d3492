/* SPDX-License-Identifier: Apache-2.0 */
/* The one program: finds the subcommand and hands it its arguments. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

/* A success whose output did not get out is none. */
static int finish(int status)
{
    if (status != SIMPLER_EXIT_OK || (fflush(stdout) == 0 && ferror(stdout) == 0))
        return status;
    (void)fputs("simpler: standard output could not be written\n", stderr);
    return SIMPLER_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    /* A file that may not grow is a write that fails, not the end of a run. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        char *help[] = {"help", NULL};
        (void)simpler_cmd_help.run(1, help);
        return SIMPLER_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct simpler_command *command = simpler_commands_find(name);
    if (command == NULL)
        return simpler_commands_unknown("simpler", name);
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            (void)fputs(command->help, stdout);
            return finish(SIMPLER_EXIT_OK);
        }
    }
    return finish(command->run(argc - 1, argv + 1));
}
