# Everything starts here. Needs Python 3.11, a Rust toolchain, a C compiler and make; nothing else.
.DEFAULT_GOAL := help
.PHONY: help setup build peers lean demo lint lint-rust lint-python audit test test-rust test-narrow test-python test-long mutants bench fuzz leakage vectors web wheel wheel-test sdist newcomer matrix reproducible clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FUZZ_CASES ?= 1000000
# Python compiles what it imports, which is a small part of what is installed. (PIP_NO_COMPILE=1 would mean the opposite.)
export PIP_COMPILE := 0
# The bindings have no tests of their own: Python's are theirs. With its features what crates build on is compiled once
# for the module and for the tests.
CHECKED := --release --config .cargo/tests.toml
RUST_TESTS := cargo test --quiet --no-fail-fast $(CHECKED) --workspace --exclude hesc-py --exclude hesc-wasm --exclude hesc-bench --features hesc-circuits/tfhe
# Where a client runs as well, each checked where it is installed (rustup target add): a page, and 32 bits.
ELSEWHERE := wasm32-unknown-unknown armv7-unknown-linux-gnueabihf
INSTALLED = $(filter $(ELSEWHERE),$(shell rustup target list --installed 2>/dev/null))
# Kernels of this processor beside its best.
FEWER := portable $(shell grep -qsw avx512f /proc/cpuinfo && echo avx2)
# pip is quiet by this only.
MATURIN := PIP_QUIET=1 $(BIN)/maturin develop --quiet

# Apart from the virtual environment of development: wheels are built and tried without it.
TOOLS := target/tools
TARGET ?= x86_64-unknown-linux-gnu

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/maturin:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet 'maturin>=1.13,<2'

$(VENV)/ready: $(BIN)/maturin pyproject.toml papers/pyproject.toml
	$(BIN)/pip install --quiet --upgrade pip
	$(MATURIN) --release --features peers --extras dev
	$(BIN)/pip install --quiet --editable './papers[data,peers]'
	touch $@

setup: $(VENV)/ready ## Virtual environment with hesc, its papers and all tools

build: setup ## Compile the Rust part again
	$(MATURIN) --release --features peers

# Six minutes: the crate compiles a second time with its integers.
peers: setup ## The same with the integers of the crate tfhe, for hesc reproduce --peer tfhe
	$(MATURIN) --release --features peer-integers

# hesc without gates on encrypted bits, classical schemes, papers and tools, less optimised: what a
# cold clone can wait for.
lean: $(BIN)/maturin
	$(MATURIN) --profile demo --no-default-features

# Where all is set up it stays so.
demo: $(if $(wildcard $(VENV)/ready),build,lean) ## Classify Iris flowers that the server never sees
	$(BIN)/hesc demo iris

# Unoptimised and without lines: it runs for seconds and compiles in half the time.
$(BIN)/cargo-deny:
	CARGO_PROFILE_DEV_DEBUG=false cargo install --quiet --debug --locked --root $(VENV) cargo-deny@0.20.2

lint: setup $(BIN)/cargo-deny ## Formatting, clippy, ruff, mypy, licences and sources of what we build on
	$(MAKE) --jobs 2 --output-sync=target lint-rust lint-python

# What maturin has pyo3 built by: under other words what the module stands on would be compiled again, and then for the
# module once more.
PYO3_CONFIG := $(abspath $(firstword $(wildcard target/maturin/pyo3-config-*.txt)))
ifneq ($(PYO3_CONFIG),)
lint-rust: export PYO3_CONFIG_FILE := $(PYO3_CONFIG)
lint-rust: export PYO3_BUILD_EXTENSION_MODULE := 1
endif
# Benchmarks apart: with Criterion's features all crates would be read a second time.
lint-rust:
	cargo fmt --all --check
	cargo clippy $(CHECKED) --workspace --exclude hesc-wasm --exclude hesc-bench --all-targets --features hesc-py/peers -- -D warnings
	cargo clippy $(CHECKED) --package hesc-py --package hesc-bench --all-targets --no-default-features -- -D warnings
	set -e; for target in $(INSTALLED); do for words in "" --no-default-features; do \
		cargo check $(CHECKED) --quiet --package hesc-client $$words --target $$target; done; done
	set -e; for target in $(filter wasm32-%,$(INSTALLED)); do cargo clippy $(CHECKED) --quiet --package hesc-wasm --target $$target -- -D warnings; done
	RUSTDOCFLAGS='-D warnings' cargo doc $(CHECKED) --quiet --workspace --exclude hesc-wasm --exclude hesc-bench --no-deps --features hesc-py/peers
	$(BIN)/cargo-deny --offline --log-level warn check bans licenses sources

lint-python:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy

audit: setup $(BIN)/cargo-deny ## Known vulnerabilities of what we build on; fails where no service answers
	$(BIN)/python -m scripts.audit

# Kernels with fewer instructions are tested in arithmetic and in what is built on it. All kernels give the same bits, so
# that laws of noise hold on each if on one; on all of them they are long, and so are AES and claims on signs.
test-rust:
	$(RUST_TESTS) --lib --tests
	$(RUST_TESTS) --doc
	set -e; for kernels in $(FEWER); do HESC_KERNELS=$$kernels $(RUST_TESTS) --lib --test arithmetic -- --skip _follow --skip aes:: --skip packing_claims; done

# Linked by what comes with Rust; the hash blake3 goes without its C, whose headers for 32 bits a system may lack.
test-narrow: export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER := rust-lld
test-narrow: export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_RUSTFLAGS := -C link-self-contained=yes -C linker-flavor=ld.lld
test-narrow: export CARGO_FEATURE_PURE := 1
test-narrow: ## A client's tests on 32 bits; rustup target add i686-unknown-linux-musl
	cargo test $(CHECKED) --quiet --package hesc-client --target i686-unknown-linux-musl

# A process for each core already: libraries that take all cores would wait for each other.
test-python: build
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto -m 'not long'

test: lint test-rust test-python ## Lint and every test but the long ones

test-long: build ## Tests that take minutes; docs/benchmarks.md holds the last result
	$(BIN)/pytest -m long
	HESC_KERNELS=portable $(RUST_TESTS) --tests -- --include-ignored
	$(RUST_TESTS) --test laws noisy_bootstraps -- --ignored
	$(MAKE) fuzz

mutants: build ## Put slips into the code one at a time: do the tests notice? Over an hour
	$(BIN)/python -m scripts.mutants

bench: build ## Criterion benchmarks and table 4 with SEAL in the same run
	RAYON_NUM_THREADS=1 cargo bench --package hesc-bench
	$(BIN)/hesc reproduce koseki2022hesc:table-4 --peer seal

fuzz: ## Damaged and lying objects to every reader, FUZZ_CASES of them
	cargo run --quiet --profile fuzz --package hesc-circuits --features tfhe --example fuzz_decoders -- $(FUZZ_CASES)

leakage: ## Statistical look for secrets in running times, some minutes
	RAYON_NUM_THREADS=1 cargo run --quiet --release --package hesc-schemes --features tfhe --example leakage

vectors: build ## Write the stored vectors again
	$(BIN)/python -m scripts.encoder_vectors
	$(BIN)/python -m scripts.scheme_vectors
	$(BIN)/python -m scripts.ciphertext_vectors
	$(BIN)/python -m scripts.logarithm_vectors
	$(BIN)/python -m scripts.bit_vectors
	$(BIN)/python -m scripts.product_vectors
	$(BIN)/python -m scripts.tree_vectors

# Its version is that of the crate wasm-bindgen. Its own lock names crates that a registry may not have yet.
$(TOOLS)/bin/wasm-bindgen:
	cargo install --quiet --debug --root $(TOOLS) wasm-bindgen-cli@0.2.130

web: $(TOOLS)/bin/wasm-bindgen ## The compiled part of the package in web/; rustup target add wasm32-unknown-unknown; three minutes
	$(PYTHON) -m scripts.web $<

booster-vectors: ## Write stored models of XGBoost, LightGBM and CatBoost again, which have to be installed
	$(BIN)/python -m scripts.booster_models

$(TOOLS)/ready:
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet 'maturin>=1.16,<2' 'nox>=2025.5' 'ziglang==0.17.1'
	touch $@

wheel: $(TOOLS)/ready ## A wheel for any Linux, gates included, in target/dist; six minutes
	$(TOOLS)/bin/python -m scripts.wheels.build --target $(TARGET)

wheel-test: $(TOOLS)/ready ## Try it in a bare virtual environment with no toolchain, on kernels without AVX too
	$(TOOLS)/bin/python -m scripts.wheels.check

sdist: $(TOOLS)/ready ## Sources that build with a Rust toolchain, in target/sdist
	rm -rf target/sdist
	$(TOOLS)/bin/maturin sdist --out target/sdist

newcomer: $(TOOLS)/ready ## Bytes and seconds to the first decrypted prediction from the wheel, by extra
	$(TOOLS)/bin/python -m scripts.wheels.newcomer

matrix: $(TOOLS)/ready ## The wheel beside old and new versions of scikit-learn, numpy, pandas and polars
	$(TOOLS)/bin/nox --envdir target/nox

reproducible: $(TOOLS)/ready ## Build the wheel twice, in two folders: is it the same file?
	$(TOOLS)/bin/python -m scripts.wheels.twice

clean: ## Remove what was built
	rm -rf target $(VENV)
