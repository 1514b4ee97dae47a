package bot;

import arena.sixtysix.v1.BotServiceGrpc;
import arena.sixtysix.v1.DescribeRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.local.LocalAddress;
import io.grpc.netty.shaded.io.netty.channel.local.LocalChannel;
import io.grpc.netty.shaded.io.netty.channel.local.LocalIoHandler;
import io.grpc.netty.shaded.io.netty.channel.local.LocalServerChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;

/** A start as the arena makes it, but without a socket: run by build.sh, which records the classes that it takes. */
final class Rehearsal {
    private Rehearsal() {}

    public static void main(String[] arguments) throws IOException {
        LocalAddress address = new LocalAddress("rehearsal");
        new Main().start(address, LocalServerChannel.class, LocalIoHandler.newFactory());
        EventLoopGroup loop =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("arena", true), LocalIoHandler.newFactory());
        ManagedChannel channel = NettyChannelBuilder.forAddress(address)
                .channelType(LocalChannel.class)
                .eventLoopGroup(loop)
                .usePlaintext()
                .build();
        BotServiceGrpc.newBlockingStub(channel).describe(DescribeRequest.newBuilder().setProtocolMajor(1).build());
    }
}
