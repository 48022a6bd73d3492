/* SPDX-License-Identifier: Apache-2.0 */
#include "misuse.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "commands.h"

#define MAX_OPTIONS 64

int simpler_misuse_error(const char *command, const char *format, ...)
{
    va_list args;

    (void)fprintf(stderr, "simpler %s: ", command);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\n(`simpler help %s` tells what it takes)\n", command);
    return SIMPLER_EXIT_USAGE;
}

int simpler_misuse_option(const char *command, const char *arg, const char *const *names,
                          size_t count)
{
    char word[64], answer[SIMPLER_NEAREST_BYTES];

    (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg, "="), arg);
    return simpler_misuse_error(command, "there is no option %s%s", word,
                                simpler_nearest_answer(word, names, count, answer, sizeof(answer)));
}

/* Whether getopt has found that @arg gives a value to this option, which takes none. */
static bool has_extra_value(const char *arg, const struct option *option)
{
    return optopt == option->val && option->has_arg == no_argument && strncmp(arg, "--", 2) == 0 &&
           strchr(arg, '=') != NULL;
}

/* The names that begin with what @arg has before its '=', as " A or B", if there are several. */
static bool find_meanings(const char *arg, const char *const *names, size_t count, char *text,
                          size_t bytes)
{
    size_t length = strcspn(arg, "="), used = 0, found = 0;

    for (size_t i = 0; i < count && length > 2 && used < bytes; i++) {
        if (strncmp(arg, names[i], length) == 0)
            used += (size_t)snprintf(text + used, bytes - used, "%s %s", found++ == 0 ? "" : " or",
                                     names[i]);
    }
    return found > 1;
}

int simpler_misuse_getopt(const char *command, int answer, char **argv, const struct option *longs)
{
    const char *arg = argv[optind - 1];
    char words[MAX_OPTIONS][32], meanings[256], letter[3] = {'-', (char)optopt, '\0'};
    const char *names[MAX_OPTIONS];
    size_t count = 0;

    if (answer == ':')
        return simpler_misuse_error(command, "%s needs a value", arg);
    for (; count < MAX_OPTIONS && longs[count].name != NULL; count++) {
        (void)snprintf(words[count], sizeof(words[count]), "--%s", longs[count].name);
        names[count] = words[count];
        if (has_extra_value(arg, &longs[count]))
            return simpler_misuse_error(command, "%s takes no value", words[count]);
    }
    if (optopt == 0 && find_meanings(arg, names, count, meanings, sizeof(meanings)))
        return simpler_misuse_error(command, "%.*s may be%s", (int)strcspn(arg, "="), arg,
                                    meanings);
    return simpler_misuse_option(command, optopt != 0 ? letter : arg, names, count);
}
