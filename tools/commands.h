/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_COMMANDS_H
#define SIMPLER_TOOLS_COMMANDS_H

/*
 * The subcommands.  One row each in commands.c, one file cmd_<name>.c each:
 * options in, report/ or host/ called, exit status out.
 */

/* Exit statuses of every subcommand. */
enum simpler_exit {
    SIMPLER_EXIT_OK = 0,      /* all passed */
    SIMPLER_EXIT_FAILED = 1,  /* something failed */
    SIMPLER_EXIT_USAGE = 2,   /* bad usage */
    SIMPLER_EXIT_PARTIAL = 3, /* results right, a diagnostic missing or incomplete */
};

struct simpler_command {
    const char *name;
    const char *purpose; /* one line for the overview */
    const char *help;    /* printed by `simpler help NAME` and `simpler NAME --help` */
    /* argv[0] is the subcommand's name. */
    int (*run)(int argc, char **argv);
};

/* Ends with an entry whose name is NULL. */
extern const struct simpler_command *const simpler_commands[];

const struct simpler_command *simpler_commands_find(const char *name);
/* Tells @who ("simpler") that there is no such command, and which there are; SIMPLER_EXIT_USAGE. */
int simpler_commands_unknown(const char *who, const char *name);

extern const struct simpler_command simpler_cmd_run;
extern const struct simpler_command simpler_cmd_build;
extern const struct simpler_command simpler_cmd_info;
extern const struct simpler_command simpler_cmd_scope_stats_plot;
extern const struct simpler_command simpler_cmd_recover;
extern const struct simpler_command simpler_cmd_help;
extern const struct simpler_command simpler_cmd_version;
extern const struct simpler_command simpler_cmd_dump_viewer;

#endif
