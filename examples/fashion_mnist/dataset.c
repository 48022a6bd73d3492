/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the IDX files of Fashion-MNIST: big-endian 32-bit words (a magic number
 * that tells the number of dimensions, then each extent), then the bytes.
 */
#include "dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "simpler/status.h"

enum { MAGIC_LABELS = 0x801, MAGIC_IMAGES = 0x803 };

const char *fashion_dataset_dir(void)
{
    const char *dir = getenv("FASHION_MNIST_DIR");
    return dir != NULL && dir[0] != '\0' ? dir : "/usr/share/datasets/fashion-mnist";
}

static int read_word(gzFile file, uint32_t *out)
{
    unsigned char byte[4];
    if (gzread(file, byte, 4) != 4)
        return SIMPLER_EFORMAT;
    *out = (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
    return 0;
}

/* The header; @count gets the number of items, each of which must have @item bytes. */
static int read_header(gzFile file, uint32_t magic, uint32_t item, uint32_t *count)
{
    uint32_t word = 0, bytes = 1;
    if (read_word(file, &word) != 0 || word != magic || read_word(file, count) != 0)
        return SIMPLER_EFORMAT;
    for (uint32_t dim = 1; dim < (magic & 0xff); dim++) {
        if (read_word(file, &word) != 0 || word > item)
            return SIMPLER_EFORMAT;
        bytes *= word;
    }
    return bytes == item ? 0 : SIMPLER_EFORMAT;
}

/* At most *count items of @item bytes; *count becomes what there is. */
static int read_items(gzFile file, uint32_t magic, uint32_t item, uint32_t *count, uint8_t **out)
{
    uint32_t available;
    int rc = read_header(file, magic, item, &available);
    if (rc != 0)
        return rc;
    if (*count > available)
        *count = available;
    size_t bytes = (size_t)*count * item;
    uint8_t *data = bytes <= 1u << 30 ? malloc(bytes != 0 ? bytes : 1) : NULL;
    if (data == NULL)
        return SIMPLER_ENOMEM;
    if (gzread(file, data, (unsigned)bytes) != (int)bytes) {
        free(data);
        return SIMPLER_EFORMAT;
    }
    *out = data;
    return 0;
}

static int read_file(const char *prefix, const char *suffix, uint32_t magic, uint32_t item,
                     uint32_t *count, uint8_t **out, char *message, size_t message_bytes)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s-%s-ubyte.gz", fashion_dataset_dir(), prefix, suffix);
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        (void)snprintf(message, message_bytes,
                       "cannot read %s: install the package dataset-fashion-mnist, or let "
                       "FASHION_MNIST_DIR name the folder of the four files",
                       path);
        return SIMPLER_ENOENT;
    }
    int rc = read_items(file, magic, item, count, out);
    (void)gzclose(file);
    if (rc != 0)
        (void)snprintf(message, message_bytes, "%s: %s", path, simpler_status_text(rc));
    return rc;
}

int fashion_dataset_read(const char *prefix, uint32_t limit, struct fashion_images *out,
                         char *message, size_t message_bytes)
{
    uint32_t images = limit, labels = limit;
    uint8_t *pixel = NULL, *label = NULL;
    int rc = read_file(prefix, "images-idx3", MAGIC_IMAGES, FASHION_PIXELS, &images, &pixel,
                       message, message_bytes);
    if (rc == 0)
        rc = read_file(prefix, "labels-idx1", MAGIC_LABELS, 1, &labels, &label, message,
                       message_bytes);
    for (uint32_t i = 0; rc == 0 && i < labels; i++) {
        if (images != labels || label[i] >= FASHION_CLASSES) {
            (void)snprintf(message, message_bytes, "%s: the %s labels do not fit the images",
                           fashion_dataset_dir(), prefix);
            rc = SIMPLER_EFORMAT;
        }
    }
    if (rc != 0) {
        free(pixel);
        free(label);
        return rc;
    }
    *out = (struct fashion_images){pixel, label, images};
    return 0;
}

void fashion_dataset_free(struct fashion_images *images)
{
    free((void *)(uintptr_t)images->pixel);
    free((void *)(uintptr_t)images->label);
    *images = (struct fashion_images){NULL, NULL, 0};
}
