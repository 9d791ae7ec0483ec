import com.google.gson.Gson;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** One call over grpc-java: Client TARGET CONFIG METHOD. */
public final class Client {
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            return new byte[0];
        }
    };

    public static void main(String[] arguments) throws Exception {
        Map<String, ?> config = new Gson().fromJson(Files.readString(Path.of(arguments[1])), Map.class);
        ManagedChannel channel = NettyChannelBuilder.forTarget(arguments[0])
            .usePlaintext()
            .disableServiceConfigLookUp()
            .defaultServiceConfig(config)
            .enableRetry()
            .build();
        MethodDescriptor<byte[], byte[]> method = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(arguments[2])
            .setRequestMarshaller(BYTES)
            .setResponseMarshaller(BYTES)
            .build();
        try {
            ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, new byte[0]);
            System.out.println("OK");
        } catch (StatusRuntimeException error) {
            System.out.println(error.getStatus());
        }
        channel.shutdownNow();
    }
}
