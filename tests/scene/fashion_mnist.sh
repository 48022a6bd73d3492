#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The losses equal those of the serial version bit for bit everywhere; what is
# wrong with a data set is said.
. "$SOURCE_DIR/tests/support/scene.sh"
need_scene fashion_mnist

# dataset FOLDER PIXELS LABEL IMAGES LABELS: four tiny files; PIXELS bytes an image, all labels LABEL.
dataset() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import gzip, os, struct, sys
folder, (pixels, label, images, labels) = sys.argv[1], map(int, sys.argv[2:])
os.makedirs(folder, exist_ok=True)
for prefix in ("train", "t10k"):
    with gzip.open(f"{folder}/{prefix}-images-idx3-ubyte.gz", "wb") as out:
        out.write(struct.pack(">4I", 0x803, images, 28, 28) + bytes(images * pixels))
    with gzip.open(f"{folder}/{prefix}-labels-idx1-ubyte.gz", "wb") as out:
        out.write(struct.pack(">2I", 0x801, labels) + bytes([label]) * labels)
PYTHON
}
tiny="fashion_mnist --case default --param batch=2 --param epochs=1 --param accuracy=0"

FASHION_MNIST_DIR=$work/none ends 1 'install the package dataset-fashion-mnist' fashion_mnist
dataset good 784 9 6 6
FASHION_MNIST_DIR=$work/good ends 0 'the losses of 3 batches equal' $tiny
FASHION_MNIST_DIR=$work/good ends 1 'a batch of 7 images is more than the 6 there are' \
    fashion_mnist --case default --param batch=7
dataset short 783 9 6 6
FASHION_MNIST_DIR=$work/short ends 1 'train-images-idx3-ubyte.gz: malformed input' $tiny
dataset label 784 10 6 6
FASHION_MNIST_DIR=$work/label ends 1 'labels do not fit the images' $tiny
dataset fewer 784 9 6 5
FASHION_MNIST_DIR=$work/fewer ends 1 'labels do not fit the images' $tiny
dataset header 784 9 6 6
cp header/train-labels-idx1-ubyte.gz header/train-images-idx3-ubyte.gz
FASHION_MNIST_DIR=$work/header ends 1 'train-images-idx3-ubyte.gz: malformed input' $tiny

dir=${FASHION_MNIST_DIR:-/usr/share/datasets/fashion-mnist}
[ -e "$dir/train-images-idx3-ubyte.gz" ] || {
    echo "SKIP: there is no data set in $dir (Debian: dataset-fashion-mnist)"
    exit 77
}
# Two tiles of rows and of units, the second of one: 4 batches of 26 images, twice.
everywhere 'the losses of 8 batches equal' fashion_mnist --case small --param limit=104 \
    --param batch=26 --param hidden=65 --param epochs=2 --param accuracy=0
ends 0 'test accuracy [789][0-9.]+ % after 3 epochs.*the losses of 90 batches equal' \
    fashion_mnist --case small
ends 1 'too low' \
    fashion_mnist --case small --param limit=400 --param epochs=1 --param accuracy=100
# One image and one unit at a time.
ends 0 'the losses of 50 batches equal' fashion_mnist --case small --param limit=50 \
    --param batch=1 --param hidden=1 --param epochs=1 --param accuracy=0
echo ok
