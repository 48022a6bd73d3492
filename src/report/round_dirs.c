/* SPDX-License-Identifier: Apache-2.0 */
#include "report/round_dirs.h"

#include <stdlib.h>
#include <string.h>

#include "simpler/status.h"

static int is_round(const struct dirent *entry)
{
    static const char head[] = "round_";
    const char *number = entry->d_name + sizeof(head) - 1;

    return strncmp(entry->d_name, head, sizeof(head) - 1) == 0 && *number != '\0' &&
           strspn(number, "0123456789") == strlen(number);
}

int simpler_round_dirs_list(const char *directory, struct simpler_round_dirs *out)
{
    out->entry = NULL;
    out->count = scandir(directory, &out->entry, is_round, versionsort);
    if (out->count >= 0)
        return 0;
    out->entry = NULL;
    out->count = 0;
    return SIMPLER_EIO;
}

void simpler_round_dirs_fini(struct simpler_round_dirs *rounds)
{
    for (int i = 0; i < rounds->count; i++)
        free(rounds->entry[i]);
    free(rounds->entry);
    rounds->entry = NULL;
    rounds->count = 0;
}
