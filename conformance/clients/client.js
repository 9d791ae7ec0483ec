// One call over grpc-js: client.js TARGET CONFIG METHOD.
const fs = require("fs");
const grpc = require("@grpc/grpc-js");

const [target, config, method] = process.argv.slice(2);
const options = { "grpc.service_config": fs.readFileSync(config, "utf8") };
const client = new grpc.Client(target, grpc.credentials.createInsecure(), options);
const same = (bytes) => bytes;
client.makeUnaryRequest("/" + method, same, same, Buffer.alloc(0), (error) => {
  console.log(error ? `${grpc.status[error.code]} ${error.details}` : "OK");
  client.close();
});
