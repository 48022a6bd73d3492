#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The vector example gives the exact result everywhere, for one element and for many.
. "$SOURCE_DIR/tests/support/scene.sh"
need_scene vector_example

everywhere '16384 elements, all exact' vector_example
ends 0 'right: 1 element, all exact' vector_example --param elements=1
ends 0 '1000003 elements, all exact' vector_example --param elements=1000003
ends 2 'elements' vector_example --param elements=0
ends 2 'elements' vector_example --param nonsense=1
echo ok
