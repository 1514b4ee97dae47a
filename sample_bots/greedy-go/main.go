// The plumbing between the arena and choose: a gRPC server at ARENA_ADDRESS, for one arena.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"google.golang.org/grpc"

	pb "greedy-go/arena/sixtysix/v1"
)

// match is what the bot remembers of a match; many are played at once.
type match struct {
	rules   *pb.Rules
	started *pb.MatchStarted
}

type bot struct {
	pb.UnimplementedBotServiceServer
	rules *pb.Rules // for life: the arena calls Describe once, before Play
	done  context.CancelFunc
}

func (b *bot) Describe(_ context.Context, request *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	b.rules = request.Rules
	return &pb.DescribeResponse{
		ProtocolMajor:    1,
		Name:             "greedy-go",
		Version:          "1.0",
		Plays:            true,
		WaivesBeforeDraw: true, // it always goes on before the draw, so that it need not be asked there
	}, nil
}

// Play answers every decision of a message in one message, and returns when the arena has nothing more to ask.
func (b *bot) Play(stream grpc.BidiStreamingServer[pb.PlayRequest, pb.PlayResponse]) error {
	defer b.done()
	matches := map[string]*match{}
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		response := &pb.PlayResponse{}
		for _, event := range request.Events {
			switch event := event.Event.(type) {
			case *pb.Event_MatchStarted:
				matches[event.MatchStarted.MatchId] = &match{b.rules, event.MatchStarted}
			case *pb.Event_Decision:
				answer := answer(matches[event.Decision.MatchId], event.Decision)
				response.Answers = append(response.Answers, answer)
			case *pb.Event_MatchEnded:
				delete(matches, event.MatchEnded.MatchId)
			}
		}
		if len(response.Answers) > 0 {
			if err := stream.Send(response); err != nil {
				return err
			}
		}
	}
}

// answer lets choose decide; if that panics, the arena is told why, and the process goes on.
func answer(m *match, decision *pb.Decision) (answer *pb.Answer) {
	defer func() {
		if failure := recover(); failure != nil {
			answer = &pb.Answer{Id: decision.Id, Error: fmt.Sprint(failure)}
		}
	}()
	return &pb.Answer{Id: decision.Id, Action: choose(m, decision)}
}

func main() {
	address, given := os.LookupEnv("ARENA_ADDRESS")
	if !given {
		log.Fatal("this is a bot, which an arena starts (ARENA_ADDRESS is not set)")
	}
	network := "tcp"
	if path, local := strings.CutPrefix(address, "unix:"); local {
		network, address = "unix", path
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	signalled, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	ended, done := context.WithCancel(context.Background())
	pb.RegisterBotServiceServer(server, &bot{done: done})
	go func() {
		select {
		case <-signalled.Done():
			server.Stop()
		case <-ended.Done():
			server.GracefulStop()
		}
	}()
	if err := server.Serve(listener); err != nil {
		log.Fatal(err)
	}
}
