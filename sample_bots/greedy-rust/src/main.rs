//! The plumbing between the arena and `choose`: a gRPC server at ARENA_ADDRESS, for one arena.

mod choose;

#[allow(clippy::all)] // generated
mod proto {
    tonic::include_proto!("arena.sixtysix.v1");
}

use std::collections::HashMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use proto::bot_service_server::{BotService, BotServiceServer};
use proto::event::Event;
use proto::{Answer, Decision, DescribeRequest, DescribeResponse, MatchStarted, PlayRequest, PlayResponse, Rules};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream, UnixListenerStream};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

/// What the bot remembers of a match; many are played at once.
pub struct Match {
    pub rules: Arc<Rules>,
    pub started: MatchStarted,
}

#[derive(Default)]
struct Bot {
    rules: OnceLock<Arc<Rules>>, // for life: the arena calls Describe once, before Play
    ended: Arc<Notify>,
}

#[tonic::async_trait]
impl BotService for Bot {
    async fn describe(&self, request: Request<DescribeRequest>) -> Result<Response<DescribeResponse>, Status> {
        let rules = request.into_inner().rules.unwrap_or_default();
        self.rules.get_or_init(|| Arc::new(rules));
        Ok(Response::new(DescribeResponse {
            protocol_major: 1,
            name: "greedy-rust".into(),
            version: "1.0".into(),
            plays: true,
            waives_before_draw: true, // it always goes on before the draw, so that it need not be asked there
            ..Default::default()
        }))
    }

    type PlayStream = ReceiverStream<Result<PlayResponse, Status>>;

    async fn play(&self, request: Request<Streaming<PlayRequest>>) -> Result<Response<Self::PlayStream>, Status> {
        let rules = self.rules.get().cloned().unwrap_or_default();
        let (answers, stream) = mpsc::channel(1);
        let ended = self.ended.clone();
        tokio::spawn(async move {
            answer_all(request.into_inner(), rules, answers).await;
            ended.notify_one();
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }
}

/// Answers every decision of a message in one message, until the arena has nothing more to ask.
async fn answer_all(
    mut requests: Streaming<PlayRequest>,
    rules: Arc<Rules>,
    answers: mpsc::Sender<Result<PlayResponse, Status>>,
) {
    let mut matches = HashMap::new();
    while let Ok(Some(request)) = requests.message().await {
        let mut response = PlayResponse::default();
        for event in request.events.into_iter().filter_map(|event| event.event) {
            match event {
                Event::MatchStarted(started) => {
                    let rules = rules.clone();
                    matches.insert(started.match_id.clone(), Match { rules, started });
                }
                Event::Decision(decision) => response.answers.push(answer(&matches[&decision.match_id], &decision)),
                Event::MatchEnded(ended) => {
                    matches.remove(&ended.match_id);
                }
                _ => {}
            }
        }
        if !response.answers.is_empty() && answers.send(Ok(response)).await.is_err() {
            return;
        }
    }
}

/// Lets `choose` decide; if that panics, the arena is told so, and the process goes on.
fn answer(game: &Match, decision: &Decision) -> Answer {
    let id = decision.id;
    match catch_unwind(AssertUnwindSafe(|| choose::choose(game, decision))) {
        Ok(action) => Answer { id, action: action.into(), ..Default::default() },
        Err(_) => Answer { id, error: "choose panicked: see the bot's log".into(), ..Default::default() },
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = env::var("ARENA_ADDRESS").map_err(|_| "this is a bot, which an arena starts (no ARENA_ADDRESS)")?;
    let bot = Bot::default();
    let ended = bot.ended.clone();
    let server = Server::builder().add_service(BotServiceServer::new(bot));
    let mut terminated = signal(SignalKind::terminate())?;
    let serving = async {
        match address.strip_prefix("unix:") {
            Some(path) => {
                let incoming = UnixListenerStream::new(UnixListener::bind(path)?);
                server.serve_with_incoming_shutdown(incoming, ended.notified()).await?;
            }
            None => {
                let incoming = TcpListenerStream::new(TcpListener::bind(&address).await?);
                server.serve_with_incoming_shutdown(incoming, ended.notified()).await?;
            }
        }
        Ok(())
    };
    tokio::select! {
        result = serving => result,
        _ = terminated.recv() => Ok(()),
    }
}
