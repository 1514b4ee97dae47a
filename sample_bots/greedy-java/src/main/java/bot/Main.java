package bot;

import arena.sixtysix.v1.Answer;
import arena.sixtysix.v1.BotServiceGrpc.BotServiceImplBase;
import arena.sixtysix.v1.Decision;
import arena.sixtysix.v1.DescribeRequest;
import arena.sixtysix.v1.DescribeResponse;
import arena.sixtysix.v1.Event;
import arena.sixtysix.v1.MatchStarted;
import arena.sixtysix.v1.PlayRequest;
import arena.sixtysix.v1.PlayResponse;
import arena.sixtysix.v1.Rules;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The plumbing: serves at ARENA_ADDRESS and asks {@link Policy#choose} for every decision. */
final class Main extends BotServiceImplBase {
    /** Kept, so that its level is: Netty warns of what a sandbox and a unix socket have not. */
    private static final Logger NETTY = Logger.getLogger("io.grpc.netty.shaded.io.netty");

    private final Map<String, Match> matches = new HashMap<>(); // the arena opens one stream: no lock is needed
    private Rules rules = Rules.getDefaultInstance();
    private Server server;

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String address = System.getenv("ARENA_ADDRESS");
        if (address == null || !address.startsWith("unix:")) {
            System.err.println("this is a bot, which an arena starts (ARENA_ADDRESS is no unix socket); see README.md");
            System.exit(2);
        }
        SocketAddress socket = UnixDomainSocketAddress.of(address.substring("unix:".length()));
        Server server = new Main().start(socket, NioServerDomainSocketChannel.class, NioIoHandler.newFactory());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); // SIGTERM is no failure
        server.awaitTermination();
    }

    Server start(SocketAddress address, Class<? extends ServerChannel> kind, IoHandlerFactory io) throws IOException {
        NETTY.setLevel(Level.SEVERE);
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("loop", true), io);
        server = NettyServerBuilder.forAddress(address)
                .channelType(kind)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .directExecutor() // all of the bot runs on the loop's thread
                .addService(this)
                .build()
                .start();
        return server;
    }

    @Override
    public void describe(DescribeRequest request, StreamObserver<DescribeResponse> response) {
        rules = request.getRules();
        boolean plays = request.getProtocolMajor() == 1;
        response.onNext(DescribeResponse.newBuilder()
                .setProtocolMajor(1)
                .setName("greedy-java")
                .setVersion("1.0")
                .setPlays(plays)
                .setRefusal(plays ? "" : "this bot speaks protocol 1 only")
                .setWaivesBeforeDraw(true) // it always goes on there
                .build()); // a bot that thinks long also says setDecisionsAtOnce(1)
        response.onCompleted();
    }

    @Override
    public StreamObserver<PlayRequest> play(StreamObserver<PlayResponse> responses) {
        return new StreamObserver<>() {
            @Override
            public void onNext(PlayRequest request) {
                PlayResponse.Builder response = PlayResponse.newBuilder();
                for (Event event : request.getEventsList()) {
                    switch (event.getEventCase()) {
                        case MATCH_STARTED -> start(event.getMatchStarted());
                        case MATCH_ENDED -> matches.remove(event.getMatchEnded().getMatchId());
                        case DECISION -> response.addAnswers(answer(event.getDecision()));
                        case FAULT -> System.err.println("fault: " + event.getFault().getText());
                        default -> {}
                    }
                }
                if (response.getAnswersCount() > 0) {
                    responses.onNext(response.build());
                }
            }

            @Override
            public void onCompleted() { // the arena is done
                responses.onCompleted();
                server.shutdown();
            }

            @Override
            public void onError(Throwable error) {
                server.shutdown();
            }
        };
    }

    private void start(MatchStarted match) {
        matches.put(match.getMatchId(), new Match(rules, match.getSideOfSeatList()));
    }

    private Answer answer(Decision decision) {
        Answer.Builder answer = Answer.newBuilder().setId(decision.getId());
        try {
            return answer.setActionValue(Policy.choose(matches.get(decision.getMatchId()), decision)).build();
        } catch (RuntimeException error) {
            return answer.setError(error.toString()).build();
        }
    }
}
