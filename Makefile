# SPDX-License-Identifier: Apache-2.0
# The commands that the README names; CMake does the work.
JOBS ?= $(shell nproc)
# Of the release build: the program and its scenes, or all with tests and benches.
TARGET ?= ready

# Where `make install` puts the program, the library and the headers; DESTDIR goes before it.
PREFIX ?= /usr/local
DESTDIR ?=
# Absolute; abspath would split it at blanks.
prefix_path = $(if $(filter /%,$(firstword $(PREFIX))),$(PREFIX),$(CURDIR)/$(PREFIX))

.PHONY: all install release dev demo test check soak mutants bench format lint clean
all: release

release:
	@scripts/need.sh build
	@cmake --preset release >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@env -u MAKEFLAGS -u MAKELEVEL cmake --build build -j $(JOBS) --target $(TARGET)

install: release
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(prefix_path)"

dev:
	@scripts/need.sh build test
	@cmake --preset dev >/dev/null
	@env -u MAKEFLAGS -u MAKELEVEL cmake --build build/dev -j $(JOBS)

demo:
	@scripts/need.sh build demo
	@$(MAKE) --no-print-directory release
	@scripts/demo.sh

test:
	@scripts/test.sh

check:
	@scripts/check.sh

soak:
	@SOAK_SECONDS=$(or $(SECONDS),600) scripts/soak.sh

# Seeded faults of the engine, one at a time: the tests must notice each.
mutants:
	@scripts/need.sh build test
	@/usr/bin/python3 tests/support/mutants.py

bench:
	@scripts/need.sh build bench
	@$(MAKE) --no-print-directory release TARGET=all
	@scripts/bench.sh

format:
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format -i

lint:
	@scripts/need.sh lint
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

clean:
	@rm -rf build
