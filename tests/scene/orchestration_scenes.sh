#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 300
# Scenes of mixed tasks, cohorts, predicates and manual scopes (SY-05): right against double
# precision everywhere, also with sizes that nothing divides.
. "$SOURCE_DIR/tests/support/scene.sh"

right='elements?, largest error [0-9.e-]+ of'
for scene in dense_layer paged_attention mixed_pipeline block_reduction early_exit; do
    need_scene $scene
    everywhere "$right" $scene
done
ends 0 '1 element, largest error' dense_layer --param rows=1 --param inner=1 --param columns=1 --param tile=1
ends 0 "$right" dense_layer --param rows=100 --param inner=33 --param columns=70 --param tile=31
ends 0 "$right" paged_attention --case manual --aicpu-threads 4
ends 0 "$right" paged_attention --param sequences=3 --param tokens=1 --param pages=40 --param depth=5
ends 0 "$right" paged_attention --case manual --param sequences=7 --param tokens=9 --ring-task-window 256
ends 0 "$right" mixed_pipeline --param stripes=1 --param blocks=1
ends 0 "$right" mixed_pipeline --param stripes=7 --param blocks=20 --exec threads
ends 0 "$right" block_reduction --case many --aicpu-threads 2
ends 0 "$right" block_reduction --param elements=5 --param blocks=13
ends 0 'of 200 rounds [0-9]* were run' early_exit
ends 1 'of 2 rounds 2 were run' early_exit --param rounds=2
echo ok
