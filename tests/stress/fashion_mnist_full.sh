#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 400
# The whole training: at least 87 % of the test images right, all 3,600 losses
# equal to the serial version's, 20 s on two CPUs.  Time counts when the CPUs were there.
. "$SOURCE_DIR/tests/support/scene.sh"
need_scene fashion_mnist
if grep -q '^SIMPLER_SANITIZE:STRING=.' "$BUILD_DIR/CMakeCache.txt"; then
    echo "SKIP: too slow under a sanitizer; tests/scene/fashion_mnist.sh runs a smaller training"
    exit 77
fi
[ -e "${FASHION_MNIST_DIR:-/usr/share/datasets/fashion-mnist}/train-images-idx3-ubyte.gz" ] || {
    echo "SKIP: there is no data set (Debian: dataset-fashion-mnist)"
    exit 77
}

# Without the comparison first: what the process takes is reading, training and a little testing.
TIMEFORMAT='%R %U %S'
times=$({ time ends 0 'test accuracy (8[7-9]|9[0-9])\.[0-9]+ % after 6 epochs' \
    fashion_mnist --case default --aicpu-threads 2 --param check_epochs=0 >&3; } 3>&1 2>&1) ||
    { echo "$times"; exit 1; }
read -r wall user system <<<"$times"
echo "$wall s with $user s of user time and $system s of system time"
awk -v w="$wall" -v c="$(awk -v u="$user" -v s="$system" 'BEGIN {print u + s}')" 'BEGIN {
    if (c > 40) {print "FAILED: more than 40 s of CPU time"; exit 1}
    if (w > 20 && c > 1.5 * w) {print "FAILED: more than 20 s"; exit 1}
    if (w > 20) print "the time is not judged: the two CPUs were not there"
}' || exit 1
ends 0 'the losses of 3600 batches equal' fashion_mnist --case default --aicpu-threads 2 \
    --param check_epochs=6
echo ok
