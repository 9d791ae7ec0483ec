#!/usr/bin/env bash
# protox 0.10.0 (crates.io), beside protoc 35.1 as grpcio-tools 1.85.1 (PyPI) has it: `extensions 100 [..];` is refused, `extensions 100 to 100 [..];` isn't.
#
# Options of extension ranges follow the last range of a line. If that is a single number, protox expects `to`, a comma or the semicolon, and fails
# with "expected 'to', ',' or ';', but found '['"; protoc takes both. protobuf's own descriptor.proto has such a line since its declarations of
# extensions, so that a folder with a copy of it (google-proto-files 6.0.1 on npm has one) can't be compiled by protox, whatever imports it. Written
# as a range, which means the same, it compiles.
#
# Seen:
#
#     100 to 199 [verification = UNVERIFIED]    protoc: compiled    protox: compiled
#     100 to 100 [verification = UNVERIFIED]    protoc: compiled    protox: compiled
#     100 [verification = UNVERIFIED]           protoc: compiled    protox: refused
#     100, 102 [verification = UNVERIFIED]      protoc: compiled    protox: refused
#     100                                       protoc: compiled    protox: compiled
#
# Needs cargo and python3 with venv. Installs into a temporary folder, and exits with 1 if the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check grpcio-tools==1.85.1

mkdir -p reader/src protos
cat >reader/Cargo.toml <<'TOML'
[package]
name = "reader"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
protox = "=0.10.0"
TOML
cat >reader/src/main.rs <<'RUST'
fn main() -> Result<(), protox::Error> {
    protox::compile(std::env::args().skip(1), ["protos"]).map(drop)
}
RUST
CARGO_TARGET_DIR=target cargo build --quiet --manifest-path reader/Cargo.toml

compiled() {
    if "$@" >/dev/null 2>errors; then echo compiled; else echo refused; fi
}
same=0
while IFS='|' read -r ranges expected; do
    printf 'syntax = "proto2";\npackage shop;\nmessage Item {\n  extensions %s;\n}\n' "$ranges" >protos/item.proto
    protoc=$(compiled venv/bin/python -m grpc_tools.protoc -Iprotos --descriptor_set_out=set.bin item.proto)
    protox=$(compiled target/debug/reader item.proto)
    printf '%-42s protoc: %s    protox: %s\n' "$ranges" "$protoc" "$protox"
    [ "$protoc $protox" = "compiled $expected" ] || same=1
done <<'CASES'
100 to 199 [verification = UNVERIFIED]|compiled
100 to 100 [verification = UNVERIFIED]|compiled
100 [verification = UNVERIFIED]|refused
100, 102 [verification = UNVERIFIED]|refused
100|compiled
CASES
[ "$same" = 0 ] || echo "the behaviour has changed"
exit "$same"
