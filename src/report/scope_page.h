/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_PAGE_H
#define SIMPLER_REPORT_SCOPE_PAGE_H

#include <stdio.h>

#include "report/scope_model.h"

/*
 * The report as one HTML page without any external part.  The curves of the
 * model are thinned to what a page of a megabyte can hold, keeping the least
 * and the greatest value of every column.  SIMPLER_ENOMEM; faults of the
 * stream stay in the stream.
 */
int simpler_scope_page(FILE *out, struct simpler_scope_model *m);

/* Writes the page to @path by way of a file beside it.  SIMPLER_EIO, logged. */
int simpler_scope_page_write(const char *path, struct simpler_scope_model *m);

/* Style sheet and script of the page, line by line; NULL ends them. */
extern const char *const simpler_scope_page_style[];
extern const char *const simpler_scope_page_script[];

#endif
