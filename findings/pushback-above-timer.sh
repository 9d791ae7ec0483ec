#!/usr/bin/env bash
# @grpc/grpc-js 1.14.7 (npm) on Node.js, beside grpcio 1.85.3 (PyPI): a server that asks for a retry in 30 days gets it in some milliseconds.
#
# `grpc-retry-pushback-ms` is an integer (gRFC A6). grpc-js passes it to a timer of Node.js, which holds 2,147,483,647 ms, a little less than 25
# days, and takes 1 ms for anything longer. So the longest delays that a server can ask for are the shortest, and all attempts are made at once.
# grpcio waits, and the call ends with its deadline. A server that means "not again" should send -1, which both understand.
#
# Seen (maxAttempts 3, first back-off 0.01 s, a deadline of 2 s, a server that always fails with UNAVAILABLE):
#
#     2147483647 ms  grpcio: 1 attempt, DEADLINE_EXCEEDED      grpc-js: 1 attempt, DEADLINE_EXCEEDED
#     2592000000 ms  grpcio: 1 attempt, DEADLINE_EXCEEDED      grpc-js: 3 attempts, UNAVAILABLE
#     -1             grpcio: 1 attempt, UNAVAILABLE            grpc-js: 1 attempt, UNAVAILABLE
#
# Needs python3 with venv, node and npm. Installs into a temporary folder, listens on loopback, and exits with 1 if the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check grpcio==1.85.3
npm install --silent --no-fund --no-audit @grpc/grpc-js@1.14.7 >/dev/null

cat >client.js <<'JS'
const grpc = require('@grpc/grpc-js');
const [target, config] = process.argv.slice(2);
const same = bytes => bytes;
const Shop = grpc.makeGenericClientConstructor(
    { get: { path: '/shop.Shop/Get', requestStream: false, responseStream: false, requestSerialize: same, requestDeserialize: same,
        responseSerialize: same, responseDeserialize: same } }, 'Shop');
const client = new Shop(target, grpc.credentials.createInsecure(), { 'grpc.service_config': config });
client.get(Buffer.alloc(0), { deadline: Date.now() + 2000 }, error => {
    console.log(grpc.status[error.code]);
    client.close();
});
JS

cat >run.py <<'PYTHON'
import concurrent.futures, json, subprocess, grpc

config = json.dumps({"methodConfig": [{"name": [{"service": "shop.Shop"}], "retryPolicy": {
    "maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.01s", "backoffMultiplier": 1,
    "retryableStatusCodes": ["UNAVAILABLE"]}}]})
arrived = []
pushback = "-1"

def get(request, context):
    arrived.append(1)
    context.set_trailing_metadata((("grpc-retry-pushback-ms", pushback),))
    context.abort(grpc.StatusCode.UNAVAILABLE, "always")

server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
method = grpc.unary_unary_rpc_method_handler(get)
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop.Shop", {"Get": method})])
target = "127.0.0.1:%d" % server.add_insecure_port("127.0.0.1:0")
server.start()

def grpcio():
    with grpc.insecure_channel(target, options=[("grpc.service_config", config)]) as channel:
        try:
            channel.unary_unary("/shop.Shop/Get")(b"", timeout=2)
        except grpc.RpcError as error:
            return error.code().name

def grpc_js():
    command = ["node", "--no-warnings", "client.js", target, config]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()

expected = {
    "2147483647": [(1, "DEADLINE_EXCEEDED"), (1, "DEADLINE_EXCEEDED")],
    "2592000000": [(1, "DEADLINE_EXCEEDED"), (3, "UNAVAILABLE")],
    "-1": [(1, "UNAVAILABLE"), (1, "UNAVAILABLE")],
}
same = True
for pushback, wanted in expected.items():
    for name, client, outcome in zip(["grpcio", "grpc-js"], [grpcio, grpc_js], wanted):
        arrived.clear()
        result = client()
        seen = (len(arrived), result)
        print("pushback %-10s ms %-8s %d attempts, %s" % (pushback, name, *seen))
        same &= seen == outcome
server.stop(None)
raise SystemExit(0 if same else "the behaviour has changed")
PYTHON
venv/bin/python run.py
