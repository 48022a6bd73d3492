#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The factorisation's residual is small everywhere, also with tiles that do not
# divide the matrix, with one tile, and with tiles of one element.
. "$SOURCE_DIR/tests/support/scene.sh"
need_scene cholesky

right='\|\|A - L L\^T\|\| / \(\|\|A\|\| n eps\) = [0-9.e-]+; n ='
everywhere "$right 300, tile 64" cholesky --case small
# A BLAS without locks is wrong in some runs of a hundred.
ends 0 "$right 300, tile 64" cholesky --case small --aicpu-threads 4 --rounds 300
for shape in '1 1' '7 1' '64 64' '65 64' '100 33' '200 1000'; do
    set -- $shape
    ends 0 "$right $1, tile $2" cholesky --case default --param size=$1 --param tile=$2
done
echo ok
