// SPDX-License-Identifier: Apache-2.0
/* Tile instructions are a library of their own, pto-isa, which simulates them on a CPU. */
#error "tile instructions are not here: name pto-isa's include directory in include_dirs"
