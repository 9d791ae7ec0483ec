#!/usr/bin/env bash
# google-gax 5.0.8 (npm): `maxRetries` counts the first attempt, and its own way to set it is refused where a client keeps it.
#
# `createMaxRetriesBackoffSettings(.., maxRetries)` makes back-off without a total timeout. With 3, a unary call that always fails is attempted three
# times, which is two retries; with 1 it is never retried, exactly as with 0. Given to a call as its `retry` option it works. Kept in the settings
# that a client is made with, it works as well, until a call has any option, which generated clients always pass: then the client's timeout (30 s
# unless set) becomes the total timeout beside it, and the call fails with INVALID_ARGUMENT before anything is sent.
#
# Seen, attempts of a call that fails with UNAVAILABLE, and the status that the caller gets:
#
#     a call's own, maxRetries 0                     1 attempt,  DEADLINE_EXCEEDED
#     a call's own, maxRetries 1                     1 attempt,  DEADLINE_EXCEEDED
#     a call's own, maxRetries 2                     2 attempts, DEADLINE_EXCEEDED
#     a call's own, maxRetries 3                     3 attempts, DEADLINE_EXCEEDED
#     the client's, maxRetries 3, no option          3 attempts, DEADLINE_EXCEEDED
#     the client's, maxRetries 3, a call with an option    0 attempts, INVALID_ARGUMENT
#
# Needs node and npm. Installs into a temporary folder, and exits with 1 if the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >npm.log
npm install --silent --no-audit --no-fund google-gax@5.0.8 >>npm.log

cat >calls.js <<'JS'
const gax = require('google-gax');

/** The attempts of one call whose server is always down, and the code that it ends with. */
async function seen(ofClient, ofCall) {
  let attempts = 0;
  const down = Promise.resolve((request, metadata, options, callback) => {
    attempts += 1;
    callback(Object.assign(new Error('down'), {code: gax.Status.UNAVAILABLE}));
  });
  const call = gax.createApiCall(down, new gax.CallSettings(ofClient));
  const code = await call({}, ofCall).then(() => gax.Status.OK, error => error.code);
  return `${attempts} ${gax.Status[code]}`;
}

function retry(maxRetries) {
  const backoff = gax.createMaxRetriesBackoffSettings(1, 1, 1, 100, 1, 100, maxRetries);
  return {retry: gax.createRetryOptions([gax.Status.UNAVAILABLE], backoff)};
}

async function main() {
  const cases = [
    [{}, retry(0), '1 DEADLINE_EXCEEDED'],
    [{}, retry(1), '1 DEADLINE_EXCEEDED'],
    [{}, retry(2), '2 DEADLINE_EXCEEDED'],
    [{}, retry(3), '3 DEADLINE_EXCEEDED'],
    [retry(3), undefined, '3 DEADLINE_EXCEEDED'],
    [retry(3), {otherArgs: {headers: {}}}, '0 INVALID_ARGUMENT'],
  ];
  for (const [ofClient, ofCall, expected] of cases) {
    const result = await seen(ofClient, ofCall);
    console.log(result);
    if (result !== expected) {
      console.log(`the behaviour has changed: ${expected} before`);
      process.exitCode = 1;
    }
  }
}
main();
JS
timeout 120 node calls.js
