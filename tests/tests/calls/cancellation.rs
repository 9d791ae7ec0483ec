//! To drop a call stops everything at once.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::GrpcTransport;
use gax_retry::RetrySettings;
use tokio::time::{sleep, timeout};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{BodyPart, Reply, Script, Setup, Stack, VirtualServer, ms, spaced};

fn settings() -> RetrySettings {
    spaced(500, 60_000)
}

async fn dropped_after(milliseconds: u64, stack: Stack, channel: impl GrpcTransport + Sync) {
    let mut caller = stack.caller(channel, &Setup::new(settings()));
    let call = caller.list(ListAssetsRequest::default());
    timeout(ms(milliseconds), call).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn during_an_attempt() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        dropped_after(2200, stack, server.channel()).await;
        sleep(ms(120_000)).await;
        let gone: Vec<_> = server.log().arrivals().iter().map(|arrival| arrival.gone).collect();
        assert_eq!(server.seen(), [(0, Some(1000)), (1500, Some(1000))], "{stack:?}");
        assert_eq!(gone, [Some(ms(1000)), Some(ms(2200))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn during_a_delay() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        dropped_after(700, stack, server.channel()).await;
        sleep(ms(120_000)).await;
        assert_eq!(server.seen(), [(0, Some(1000)), (500, Some(1000))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn during_the_body() {
    let half = BodyPart::Data(vec![0, 0, 0, 0, 9, 1].into());
    for beats in [vec![BodyPart::Hang], vec![half, BodyPart::Hang]] {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(Reply::play(beats.clone())));
            dropped_after(300, stack, server.channel()).await;
            sleep(ms(120_000)).await;
            let arrivals = server.log().arrivals();
            assert_eq!(arrivals.len(), 1, "{stack:?}");
            assert_eq!(arrivals[0].gone, Some(ms(300)), "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn before_the_first_poll_nothing_happens() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let mut caller = Stack::Generated.caller(server.channel(), &Setup::new(settings()));
    drop(caller.list(ListAssetsRequest::default()));
    sleep(ms(1000)).await;
    assert_eq!(server.seen(), []);
}

#[tokio::test(start_paused = true)]
async fn during_a_stream() {
    let line = BodyPart::message(&Line { text: "a".to_owned(), count: 0 });
    let server = VirtualServer::start(Script::always(Reply::play([line, BodyPart::Hang])));
    let settings = TalkSettings::create(TalkStubSettings::builder().build().unwrap());
    let client = TalkClient::with_settings(server.channel(), settings);
    let mut lines = client.listen(Line::default()).await.unwrap().into_inner();
    assert_eq!(lines.message().await.unwrap().unwrap().text, "a");
    timeout(ms(400), lines.message()).await.unwrap_err();
    drop(lines);
    sleep(ms(120_000)).await;
    assert_eq!(server.log().arrivals()[0].gone, Some(ms(400)));
}
