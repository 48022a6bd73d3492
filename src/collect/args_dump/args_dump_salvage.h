/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_SALVAGE_H
#define SIMPLER_COLLECT_ARGS_DUMP_SALVAGE_H

/*
 * The payload of one record of a dead process: in args.bin, or in an arena, from where it
 * is put into args.bin.  A record carries the CRC-32C of its payload, and that alone
 * decides where it is whole; so it does not matter how often this is done.
 *
 * What args.bin has lost (a page that its medium does not give back, nor a little later, for a
 * cable or a network may be at fault as well) is as what is not there: an arena may have it, else
 * the payload ends before.  Whatever else cannot be read ends the recovery, which can be done again
 * when it can.
 */
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_wire.h"
#include "prof/region_reader.h"

struct args_dump_salvage {
    const struct simpler_region_reader *reader; /* NULL: there are no arenas */
    int directory;
    int bin;            /* -1: there is none yet */
    uint64_t bin_bytes; /* as it was found */
    uint64_t limit;     /* no payload lies beyond */
    uint64_t end;       /* of the payloads that have a place */
    uint8_t *buffer;
    int error;         /* errno of a write, or of a read, that failed; 0 none */
    const char *what;  /* that was */
    bool unreadable;   /* args.bin has lost bytes of the payload that was looked at last */
    uint64_t readable; /* bytes of it before those */
    bool again;        /* the next read is the second one of a page */
    uint32_t waits;    /* before such a read, so far */
    uint64_t from_arena;
    uint64_t lost;            /* neither here nor there */
    uint64_t lost_unreadable; /* of those: args.bin has lost a page of them */
};

/* SIMPLER_EIO, SIMPLER_ENOMEM. */
int simpler_args_dump_salvage_init(struct args_dump_salvage *s, int directory,
                                   const struct simpler_region_reader *reader);
void simpler_args_dump_salvage_fini(struct args_dump_salvage *s);

/* A place that a record of the spool has: later payloads go behind it. */
void simpler_args_dump_salvage_note(struct args_dump_salvage *s, const struct args_dump_record *r);

/*
 * Makes the record say where its payload is in args.bin, and if it is cut.
 * @has_place: payload_offset is one, of args.bin; @has_arena: it may be in the arena of
 * @lane at @arena_offset.  False: args.bin cannot be written, or something cannot be read now.
 */
bool simpler_args_dump_salvage_take(struct args_dump_salvage *s, struct args_dump_record *r,
                                    bool has_place, bool has_arena, uint32_t lane,
                                    uint64_t arena_offset);

#endif
