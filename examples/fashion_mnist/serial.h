/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASHION_SERIAL_H
#define FASHION_SERIAL_H

/* The same training as plain loops, without tasks: what the scene is checked against. */
#include "network.h"

/**
 * One step on the @config->batch images from @first on; updates @weights.
 *
 * @param scratch  fashion_serial_scratch() floats
 * @return the batch loss
 */
float fashion_serial_step(const struct fashion_config *config, const struct fashion_images *images,
                          uint32_t first, struct fashion_weights *weights, float *scratch);

/** Floats of scratch memory that fashion_serial_step needs. */
uint64_t fashion_serial_scratch(const struct fashion_config *config);

/** How many of @images get the right label. */
uint32_t fashion_serial_correct(uint32_t hidden, const struct fashion_images *images,
                                const struct fashion_weights *weights, float *scratch);

/** He-initialised weights from a fixed seed, biases and velocities 0. */
void fashion_serial_init(uint32_t hidden, struct fashion_weights *weights);

#endif
