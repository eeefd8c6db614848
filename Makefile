# The short way to the common tasks; CMake (CMakePresets.json) does the work.
#   make build     the command line and the library, optimised: build/release/bin/cuzk
#   make demo      from nothing to a proof that snarkjs accepts
#   make check     everything that must pass before a change goes in; closes with "N passed, N failed, N skipped"
#   make bench     speed of this machine, one JSON line a case
#   make install   to PREFIX (default /usr/local), below DESTDIR if that is set
#   make format    clang-format over all sources
#   make clean     removes build/
CUZK_WERROR ?= OFF
CUZK_CUDA   ?= OFF
PREFIX      ?= /usr/local

launcher := $(shell command -v ccache 2>/dev/null)
options  := -DCUZK_WERROR=$(CUZK_WERROR) -DCMAKE_C_COMPILER_LAUNCHER=$(launcher) -DCMAKE_CXX_COMPILER_LAUNCHER=$(launcher)

.PHONY: build demo check bench install format clean

build:
	tools/setup build
	cmake --preset release $(options) -DCUZK_CUDA=$(CUZK_CUDA)
	cmake --build --preset release --target src/all

demo:
	tools/demo

check:
	tools/setup test
	cmake --preset dev $(options)
	cmake --build --preset dev
	cmake --preset release $(options) -DCUZK_CUDA=$(CUZK_CUDA)
	cmake --build --preset release
	tools/run_tests.py 'build/dev:fast|dev' 'build/release:fast|release!lint'

bench: build
	cmake --build --preset release --target bench/all
	for b in build/release/bench/bench_*; do if [ -f $$b ] && [ -x $$b ]; then $$b || exit 1; fi; done

install: build
	cmake --install build/release --prefix $(PREFIX)

format:
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' | xargs clang-format -i

clean:
	rm -rf build
