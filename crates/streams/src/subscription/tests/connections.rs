//! Connections of a subscription, one after the other.

use super::numbers::{MS, Numbers, delays, open, read, settings};
use super::server::{Act, Fail, Hang, Message, Server, Wait, down, lines};
use crate::subscription::{OnEnd, Subscriber, SubscriptionState, Update};
use tonic::Status;
use tonic_gax::{Code, Compatibility, MethodSettings, OperationError, OperationOptions, StopReason, note};

#[tokio::test(start_paused = true)]
async fn it_goes_on_behind_its_last_message() {
    let server = Server::new([
        lines(1..=3, [Wait(50), down()]),
        vec![down()],
        vec![Wait(10), down()],
        lines(4..=5, []),
    ]);
    let mut subscription = open(&server, &Subscriber::new(settings()).named("feed"), Numbers::default());
    assert_eq!(read(&mut subscription).await, ((1..=5).collect(), Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (150, vec![3]), (350, vec![3]), (760, vec![3])]);
    let report = subscription.report().unwrap();
    let codes: Vec<Code> = report.attempts().iter().map(tonic_gax::Attempt::code).collect();
    assert_eq!(codes, [Code::Unavailable, Code::Unavailable, Code::Unavailable, Code::Ok]);
    assert_eq!(report.method(), "feed");
    let delivered: Vec<_> = report.attempts().iter().map(|row| report.messages_of(row)).collect();
    assert_eq!((delivered, report.messages_delivered()), (vec![3, 0, 0, 2], 5));
    assert_eq!(subscription.state(), SubscriptionState::Ended);
    assert_eq!(subscription.update().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_well_is_the_end_or_not() {
    let strategy = Numbers { ended: OnEnd::Reconnect, ..Numbers::default() };
    let server = Server::new([lines([1], []), vec![], vec![], lines([2], []), vec![down()]]);
    let limited = delays().max_attempts(4).build().unwrap();
    let settings = MethodSettings::new(limited, [Code::Aborted]);
    let mut subscription = open(&server, &Subscriber::new(&settings), strategy);
    let (numbers, end) = read(&mut subscription).await;
    // No hot loop: back-off grows with each connection that brings nothing.
    let opened: Vec<_> = server.opened().into_iter().map(|(at, _)| at).collect();
    assert_eq!((numbers, opened), (vec![1, 2], vec![0, 100, 300, 700, 800]));
    assert_eq!(end, Err((Code::Unavailable, "down".to_owned())));
    // Nobody has a limit: at the last, the end of the stream itself is the failure.
    let server = Server::new([vec![], vec![], vec![], vec![]]);
    let mut subscription =
        open(&server, &Subscriber::new(&settings), Numbers { ended: OnEnd::Reconnect, ..Numbers::default() });
    let status = subscription.update().await.unwrap_err();
    assert_eq!(status.message(), "the server ended the stream");
    let report = OperationError::of(&status).unwrap().report();
    assert_eq!((report.stop_reason(), report.attempt_count()), (Some(StopReason::MaxAttempts), 4));
}

#[tokio::test(start_paused = true)]
async fn a_new_beginning_is_seen_as_soon_as_it_is_open() {
    let gone = || Fail(Status::out_of_range("gone"));
    let server = Server::new([lines([7, 801], [gone()]), vec![gone()], vec![Wait(5), Wait(900), Message(1)]]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    // Withheld messages are dropped.
    assert_eq!(read(&mut subscription).await, (vec![7, 0, 1], Ok(())));
    assert_eq!(subscription.restarts(), 2);
    assert_eq!(server.opened(), [(0, vec![0]), (100, vec![0]), (300, vec![0])]);
    let server_of_silence =
        Server::new([lines([7], [gone()]), vec![Wait(5), Message(950), Wait(900), Message(1)]]);
    let mut subscription = open(&server_of_silence, &Subscriber::new(settings()), Numbers::default());
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(7)));
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Restarted));
    assert_eq!(server_of_silence.start.elapsed().as_millis(), 105);
    assert_eq!(subscription.metadata().get("x-first").unwrap(), "1");
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
}

#[tokio::test(start_paused = true)]
async fn a_strategy_stops_widens_and_withholds() {
    let stop = || Fail(Status::unavailable("stop"));
    let ended = |scripts: Vec<Vec<Act>>, subscriber: Subscriber| async move {
        let server = Server::new(scripts);
        let mut subscription = open(&server, &subscriber, Numbers::default());
        let (numbers, end) = read(&mut subscription).await;
        let report = subscription.report().unwrap();
        (numbers, end.err().map(|(code, _)| code), report.stop_reason(), report.notes().to_vec())
    };
    let subscriber = || Subscriber::new(settings());
    let committed = (vec![1], Some(Code::Unavailable), Some(StopReason::Committed), vec![note::NOT_RESUMED]);
    assert_eq!(ended(vec![lines([1], [stop()])], subscriber()).await, committed);
    let refused = (vec![], Some(Code::Unavailable), Some(StopReason::NonRetryable), vec![note::NOT_RESUMED]);
    assert_eq!(ended(vec![vec![stop()]], subscriber()).await, refused);
    let code = (vec![1], Some(Code::Internal), Some(StopReason::NonRetryable), vec![]);
    assert_eq!(ended(vec![lines([1], [Fail(Status::internal(""))])], subscriber()).await, code);
    // Withheld messages come before the failure, and with the end.
    let withheld = vec![lines([1, 801, 802], [Fail(Status::internal(""))])];
    assert_eq!(ended(withheld, subscriber()).await.0, [1, 801, 802]);
    assert_eq!(ended(vec![lines([801, 802], [])], subscriber()).await.0, [801, 802]);
    assert_eq!(ended(vec![lines([801, 802, 3], [])], subscriber()).await.0, [801, 802, 3]);
    let full = (
        vec![801, 802],
        Some(Code::ResourceExhausted),
        Some(StopReason::NonRetryable),
        vec![note::WITHHELD_TOO_MUCH],
    );
    let many = || vec![lines([801, 802, 803], [])];
    assert_eq!(ended(many(), subscriber().max_withheld_messages(2)).await, full);
    assert_eq!(ended(many(), subscriber().max_withheld_bytes(16)).await, full);
}

#[tokio::test(start_paused = true)]
async fn limits_are_those_of_an_operation() {
    let fail = |number| lines([number], [Wait(3000), down()]);
    let server = Server::new((1..=4).map(fail));
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let (numbers, end) = read(&mut subscription).await;
    assert_eq!((numbers, end.unwrap_err().0), (vec![1, 2, 3, 4], Code::DeadlineExceeded));
    let report = subscription.report().unwrap();
    assert_eq!((report.stop_reason(), report.elapsed()), (Some(StopReason::TotalTimeout), 10_000 * MS));
    // Without a total timeout, the number of attempts is that of barren ones in a row.
    let three = MethodSettings::new(delays().max_attempts(3).build().unwrap(), [Code::Unavailable]);
    let scripts = [fail(1), fail(2), vec![down()], fail(3), fail(4), fail(5), vec![down()], vec![down()]];
    let server = Server::new(scripts);
    let subscriber = Subscriber::new(&three).without_total_timeout();
    let mut subscription = open(&server, &subscriber, Numbers::default());
    assert_eq!(read(&mut subscription).await.0, [1, 2, 3, 4, 5]);
    assert_eq!(subscription.report().unwrap().stop_reason(), Some(StopReason::MaxAttempts));

    // By gax-java's rules the RPC timeout is that of each connection.
    let timed = delays().initial_rpc_timeout(1000 * MS).build().unwrap();
    let java = OperationOptions::new().compatibility(Compatibility::GaxJava);
    let settings = MethodSettings::new(timed, [Code::DeadlineExceeded]);
    let server = Server::new([lines([1], [Hang]), lines([2], [])]);
    let mut subscription = open(&server, &Subscriber::new(&settings).options(java), Numbers::default());
    assert_eq!(read(&mut subscription).await, (vec![1, 2], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (1100, vec![1])]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_its_caller_waiting_is_left() {
    let settings = settings().stream_timeouts(300 * MS, None);
    let server = Server::new([
        // Exactly in time.
        vec![Wait(300), Message(1), Wait(300), Message(2), Hang],
        vec![Wait(5000)],
        lines([3], []),
    ]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    assert_eq!(read(&mut subscription).await, (vec![1, 2, 3], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (1000, vec![2]), (1500, vec![2])]);
    let report = subscription.report().unwrap();
    assert_eq!(report.attempts()[0].code(), Code::Aborted);
    // It is our own, and says nothing of the connection before.
    let settings = MethodSettings::new(delays().max_attempts(2).build().unwrap(), [Code::Unavailable])
        .stream_timeouts(300 * MS, None);
    let server = Server::new([vec![down()], vec![Hang]]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    assert_eq!(read(&mut subscription).await.1.unwrap_err().0, Code::Aborted);
    assert_eq!(subscription.report().unwrap().notes(), []);
}

#[tokio::test(start_paused = true)]
async fn servers_say_when_the_next_connection_is_wanted() {
    let mut asks = Status::unavailable("busy");
    asks.metadata_mut().insert("grpc-retry-pushback-ms", "700".parse().unwrap());
    let server = Server::new([vec![Fail(asks)], lines([1], [])]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    assert_eq!(read(&mut subscription).await, (vec![1], Ok(())));
    assert_eq!(server.opened()[1].0, 700);
}
