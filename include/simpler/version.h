/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_VERSION_H
#define SIMPLER_VERSION_H

#define SIMPLER_VERSION "0.1.0"

#endif
