/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASHION_DATASET_H
#define FASHION_DATASET_H

#include <stddef.h>

#include "network.h"

/** Where the files lie: FASHION_MNIST_DIR, else Debian's place. */
const char *fashion_dataset_dir(void);

/**
 * Reads the images and labels of one half of the data set.
 *
 * @param prefix  "train" or "t10k"
 * @param limit   read at most so many images
 * @param out     its two arrays belong to the caller (fashion_dataset_free)
 * @retval 0, SIMPLER_ENOENT, SIMPLER_EFORMAT, SIMPLER_ENOMEM; @message says more
 */
int fashion_dataset_read(const char *prefix, uint32_t limit, struct fashion_images *out,
                         char *message, size_t message_bytes);

void fashion_dataset_free(struct fashion_images *images);

#endif
