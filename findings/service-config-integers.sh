#!/usr/bin/env bash
# grpcio 1.85.3 (PyPI) and @grpc/grpc-js 1.14.7 (npm): no way to write the number 4 as `maxAttempts` other than `4` works in both.
#
# A service config is the JSON form of a protobuf message, in which "4" and 4.0 are both valid ways to write an int32 of 4. grpcio takes the
# text "4" and refuses 4.0: the channel is made, and every call fails with INVALID_ARGUMENT before anything is sent. grpc-js takes 4.0 and
# refuses "4": the constructor of the client throws. A generator that writes integers of its JSON as text, as protobuf does for 64 bits, or as
# floating point, as some YAML and JavaScript tools do, makes a file that one of the two clients refuses.
#
# Seen (attempts that arrived at the server, for a call that always fails with UNAVAILABLE):
#
#     4    grpcio: 4 attempts, UNAVAILABLE            grpc-js: 4 attempts, UNAVAILABLE
#     "4"  grpcio: 4 attempts, UNAVAILABLE            grpc-js: 0 attempts, the constructor throws
#     4.0  grpcio: 0 attempts, INVALID_ARGUMENT       grpc-js: 4 attempts, UNAVAILABLE
#
# Needs python3 with venv, node and npm. Installs into a temporary folder, listens on loopback, and exits with 1 if the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check grpcio==1.85.3
npm install --silent --no-fund --no-audit @grpc/grpc-js@1.14.7 >/dev/null

cat >config.json <<'CONFIG'
{"methodConfig": [{"name": [{"service": "shop.Shop"}], "retryPolicy": {"maxAttempts": NUMBER, "initialBackoff": "0.01s",
  "maxBackoff": "0.01s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
CONFIG

cat >client.js <<'JS'
const grpc = require('@grpc/grpc-js');
const [target, config] = process.argv.slice(2);
const bytes = { serialize: x => x, deserialize: x => x };
const Shop = grpc.makeGenericClientConstructor(
    { get: { path: '/shop.Shop/Get', requestStream: false, responseStream: false, requestSerialize: bytes.serialize,
        requestDeserialize: bytes.deserialize, responseSerialize: bytes.serialize, responseDeserialize: bytes.deserialize } }, 'Shop');
let client;
try {
    client = new Shop(target, grpc.credentials.createInsecure(), { 'grpc.service_config': config });
} catch (error) {
    console.log('the constructor throws');
    process.exit();
}
client.get(Buffer.alloc(0), { deadline: Date.now() + 10000 }, error => {
    console.log(grpc.status[error.code]);
    client.close();
});
JS

cat >run.py <<'PYTHON'
import concurrent.futures, subprocess, grpc

arrived = []

def get(request, context):
    arrived.append(1)
    context.abort(grpc.StatusCode.UNAVAILABLE, "always")

server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
method = grpc.unary_unary_rpc_method_handler(get)
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop.Shop", {"Get": method})])
target = "127.0.0.1:%d" % server.add_insecure_port("127.0.0.1:0")
server.start()

def grpcio(config):
    with grpc.insecure_channel(target, options=[("grpc.service_config", config)]) as channel:
        try:
            channel.unary_unary("/shop.Shop/Get")(b"", timeout=10)
        except grpc.RpcError as error:
            return error.code().name

def grpc_js(config):
    return subprocess.run(["node", "client.js", target, config], capture_output=True, text=True, timeout=60, check=True).stdout.strip()

expected = {
    "4": [(4, "UNAVAILABLE"), (4, "UNAVAILABLE")],
    '"4"': [(4, "UNAVAILABLE"), (0, "the constructor throws")],
    "4.0": [(0, "INVALID_ARGUMENT"), (4, "UNAVAILABLE")],
}
same = True
for number, wanted in expected.items():
    config = open("config.json").read().replace("NUMBER", number)
    for name, client, outcome in zip(["grpcio", "grpc-js"], [grpcio, grpc_js], wanted):
        arrived.clear()
        result = client(config)
        seen = (len(arrived), result)
        print("maxAttempts %-4s %-8s %d attempts, %s" % (number, name, *seen))
        same &= seen == outcome
server.stop(None)
raise SystemExit(0 if same else "the behaviour has changed")
PYTHON
venv/bin/python run.py
