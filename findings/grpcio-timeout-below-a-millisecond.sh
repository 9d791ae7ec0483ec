#!/usr/bin/env bash
# grpcio 1.85.3 (PyPI): a `timeout` below a millisecond in a service config is none at all, where one of a millisecond ends the call.
#
# The C core keeps the method's timeout in whole milliseconds, cut rather than rounded up. What is left of "0.0009s" is 0, which means that the
# method has no timeout: a call that has no deadline of its own waits for as long as the server takes. The channel is made without a word.
# By service_config.proto the shorter of this and of the call's own deadline applies, and its durations go down to a nanosecond.
#
# Seen, of a call without a deadline to a server that replies after a second:
#
#     "timeout": "0.0005s"    OK
#     "timeout": "0.0009s"    OK
#     "timeout": "0.001s"     DEADLINE_EXCEEDED
#     "timeout": "0.0019s"    DEADLINE_EXCEEDED
#
# Needs python3. Installs into a temporary folder, and exits with 1 if the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check grpcio==1.85.3

cat >calls.py <<'PY'
import concurrent.futures
import json
import sys
import time

import grpc

EXPECTED = {"0.0005s": "OK", "0.0009s": "OK", "0.001s": "DEADLINE_EXCEEDED", "0.0019s": "DEADLINE_EXCEEDED"}


class Late(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: time.sleep(1) or b"")


def code(target, timeout):
    config = json.dumps({"methodConfig": [{"name": [{"service": "a.B"}], "timeout": timeout}]})
    with grpc.insecure_channel(target, options=[("grpc.service_config", config)]) as channel:
        try:
            channel.unary_unary("/a.B/Get")(b"")
            return "OK"
        except grpc.RpcError as error:
            return error.code().name


server = grpc.server(concurrent.futures.ThreadPoolExecutor(), handlers=[Late()])
target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
server.start()
changed = False
for timeout, expected in EXPECTED.items():
    seen = code(target, timeout)
    print(f"{timeout}: {seen}")
    if seen != expected:
        print(f"the behaviour has changed: {expected} before")
        changed = True
server.stop(None)
sys.exit(changed)
PY
timeout 120 venv/bin/python calls.py
