# SPDX-License-Identifier: Apache-2.0
# Thousands of damaged files (SIMPLER_TEST_SECONDS makes it 100,000 and more): each
# ends in an error that names file and fault, or in a page that is not healthy
# unless an independent strict reader finds the file whole.  SS-34, SS-35.
# ctest: TIMEOUT 12000
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import faults as matrix
import scope_damage
import scope_report
import scope_stats_gen

VARIANTS = 4000
SOAK_VARIANTS = 100000


def variant(seed):
    rng = random.Random(seed)
    trace = scope_stats_gen.random_trace(rng, scopes=rng.choice((1, 2, 3, 8, 30)))
    return scope_damage.damage(rng, trace.text(rng.random() < 0.5))


def main():
    soak = float(os.environ.get("SIMPLER_TEST_SECONDS", "0"))
    limit = time.monotonic() + (soak or 40)
    target = SOAK_VARIANTS if soak else VARIANTS
    base = int(os.environ.get("SIMPLER_TEST_SEED", "1")) * 10000000
    faults, errors, done = [], 0, 0
    with scope_report.Runner() as runner:
        while (done < target or soak) and time.monotonic() < limit and len(faults) < 20:
            data = variant(base + done)
            outcome = runner.run(data)
            fault = scope_report.judge(outcome, data)
            if fault is not None:
                faults.append("seed %d: %s" % (base + done, fault))
            errors += outcome.code == 1
            done += 1
    print("%d variants, %d refused, %d faults" % (done, errors, len(faults)), *faults, sep="\n")
    if not faults:
        matrix.saw("damaged-samples", errors, exit=1, told="fault")
        matrix.saw("damaged-samples", done - errors, exit=0, told="not-healthy-unless-whole")
    if done < 500:
        print("too few variants in the time")
    return 1 if faults or done < 500 else 0


sys.exit(main())
