//! Streams of responses that fail in every way: what a plain client would have read is read, in order, unless another
//! attempt was sent before anything was handed on.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, CodeSet, Compatibility};
use std::time::Duration;
use tonic::{Response, Status, Streaming};
use tonic_gax_tests::chaos::{Draw, RandomServer, SeedOutcome, Seeds};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::virtual_time;
use tonic_gax_tests::{Script, Setup, Stack, VirtualServer, reported, settings, three_lines};

/// Longer than any reply takes that ends by itself, and shorter than any timeout.
const PATIENCE: Duration = Duration::from_secs(30);

/// The messages before an error, or the end.
async fn read(response: impl Future<Output = Result<Response<Streaming<Line>>, Status>>) -> Vec<Line> {
    let mut read = Vec::new();
    let reading = async {
        let Ok(response) = response.await else { return };
        let mut lines = response.into_inner();
        while let Ok(Some(line)) = lines.message().await {
            read.push(line);
        }
    };
    // A stream that hangs is dropped.
    drop(tokio::time::timeout(PATIENCE, reading).await);
    read
}

/// Every attempt gets the reply that a plain client got, so that the last one sent is worth as much.
async fn outcome(seed: u64) -> SeedOutcome {
    let mut draw = Draw::new(seed);
    let (after, reply) = RandomServer::step(&mut draw, false);
    let settings = settings().to_builder().initial_rpc_timeout(2 * PATIENCE).total_timeout(10 * PATIENCE);
    let setup = Setup::new(settings.max_attempts(draw.small(1, 3)).build().unwrap())
        .retrying(if draw.percent(80) { Code::ALL.into_iter().skip(1).collect() } else { CodeSet::EMPTY })
        .compatible(draw.pick(&[Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc]));
    let setup = if draw.percent(20) { setup.without_retries() } else { setup };
    let mut outcome = SeedOutcome::of(format!("{reply:?} after {after:?}\n{setup:?}"));
    let server = || VirtualServer::start(Script::new().then_always(after, reply.clone()));

    let line = Line { text: "a".to_owned(), count: 3 };
    let mut client = TalkClient::new(server().channel());
    let plain = tokio::spawn(read(async move { client.listen(line).await })).await;
    // tonic's own client panics on status details that are not base64.
    let Ok(plain) = plain else { return outcome };
    for stack in Stack::ALL {
        let mut client = stack.talk(server().channel(), &setup);
        let own = read(client.listen(reported(three_lines()))).await;
        if own != plain {
            outcome.broken.push(format!("{stack:?} read {own:?}, a plain client {plain:?}"));
        }
    }
    outcome
}

#[test]
fn nothing_that_a_plain_client_reads_is_lost() {
    let name = "messages::nothing_that_a_plain_client_reads_is_lost";
    Seeds::of(name, 500).run(|seed| virtual_time().block_on(outcome(seed)));
}
