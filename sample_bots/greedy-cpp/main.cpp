// The plumbing: serves at ARENA_ADDRESS and asks choose() for every decision.
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include "arena/sixtysix/v1/bot.grpc.pb.h"
#include "choose.h"

namespace {

class Bot final : public sixtysix::BotService::Service {
 public:
  grpc::Status Describe(grpc::ServerContext*, const sixtysix::DescribeRequest* request,
                        sixtysix::DescribeResponse* response) override {
    rules_ = request->rules();
    response->set_protocol_major(1);
    response->set_name("greedy-cpp");
    response->set_version("1.0");
    response->set_plays(request->protocol_major() == 1);
    if (!response->plays()) response->set_refusal("this bot speaks protocol 1 only");
    response->set_waives_before_draw(true);  // it always goes on there
    return grpc::Status::OK;                 // a bot that thinks long also says set_decisions_at_once(1)
  }

  grpc::Status Play(grpc::ServerContext*,
                    grpc::ServerReaderWriter<sixtysix::PlayResponse, sixtysix::PlayRequest>* stream) override {
    for (sixtysix::PlayRequest request; stream->Read(&request);) {
      sixtysix::PlayResponse response;
      for (const auto& event : request.events()) {
        if (event.has_match_started()) {
          const auto& sides = event.match_started().side_of_seat();
          matches_[event.match_started().match_id()] = {rules_, {sides.begin(), sides.end()}};
        } else if (event.has_match_ended()) {
          matches_.erase(event.match_ended().match_id());
        } else if (event.has_decision()) {
          *response.add_answers() = answer(event.decision());
        } else if (event.has_fault()) {
          std::cerr << "fault: " << event.fault().text() << std::endl;
        }
      }
      if (response.answers_size() > 0) stream->Write(response);
    }
    kill(getpid(), SIGTERM);  // the arena is done
    return grpc::Status::OK;
  }

 private:
  sixtysix::Answer answer(const sixtysix::Decision& decision) const {
    sixtysix::Answer answer;
    answer.set_id(decision.id());
    try {
      answer.set_action(choose(matches_.at(decision.match_id()), decision));
    } catch (const std::exception& error) {
      answer.set_error(error.what());
    }
    return answer;
  }

  sixtysix::Rules rules_;
  std::map<std::string, Match> matches_;  // the arena opens one stream, so that no lock is needed
};

}  // namespace

int main() {
  const char* address = std::getenv("ARENA_ADDRESS");
  if (address == nullptr) {
    std::cerr << "this is a bot, which an arena starts (ARENA_ADDRESS is not set); see README.md\n";
    return 2;
  }
  sigset_t end;  // blocked before there are threads, so that all of them leave it to sigwait
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigaddset(&end, SIGINT);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);

  Bot bot;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials()).RegisterService(&bot);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) {
    std::cerr << "this bot cannot serve at " << address << '\n';
    return 2;
  }
  int number;
  sigwait(&end, &number);
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
}
