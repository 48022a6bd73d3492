/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_MISUSE_H
#define SIMPLER_TOOLS_MISUSE_H

/* What a command answers to arguments that it does not take. */
#include <getopt.h>
#include <stddef.h>

/* Prints "simpler NAME: <message>" and where help is; returns SIMPLER_EXIT_USAGE. */
int simpler_misuse_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* @arg, or what stands before its '=', is no option; the @count @names are. */
int simpler_misuse_option(const char *command, const char *arg, const char *const *names,
                          size_t count);

/* The same for what getopt_long answered: ':', or '?' on argv[optind - 1]. */
int simpler_misuse_getopt(const char *command, int answer, char **argv, const struct option *longs);

#endif
