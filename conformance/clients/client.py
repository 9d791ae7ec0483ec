"""One call over grpcio: client.py TARGET CONFIG METHOD."""
import sys

import grpc

target, config, method = sys.argv[1:]
options = [("grpc.service_config", open(config).read()), ("grpc.enable_retries", 1)]
with grpc.insecure_channel(target, options=options) as channel:
    try:
        channel.unary_unary("/" + method)(b"")
        print("OK")
    except grpc.RpcError as error:
        print(error.code().name, error.details())
