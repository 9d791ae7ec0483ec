//! Hedged calls over the whole stack: gRFC A6, and what is ours.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, Hedging, RetryBudget, RetrySettings, StopReason};
use gax_table::RetryTable;
use std::time::Duration;
use tokio::time::sleep;
use tonic::Status;
use tonic_gax::{Note, OperationOptions, OperationReport, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as StockTalk;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkStubSettings};
use tonic_gax_tests::{
    BodyPart, Recorder, Reply, Script, Setup, Stack, VirtualServer, ms, report_of, reported, row, rows,
};

const LOST: Code = Code::Cancelled;
const BUSY: Code = Code::Unavailable;

/// Three attempts, 100 ms apart, UNAVAILABLE is not fatal; half a second for each, one for all. On the wire a hedge comes a
/// millisecond after the moment that it was due, as a timer rounds up.
fn setup() -> Setup {
    let settings =
        RetrySettings::builder().initial_rpc_timeout(ms(500)).total_timeout(ms(1000)).build().unwrap();
    Setup::new(settings).hedged(Hedging::new(3).delay(ms(100)).non_fatal_codes([BUSY]))
}

async fn call(
    stack: Stack,
    setup: &Setup,
    steps: impl IntoIterator<Item = (u64, Reply)>,
) -> (Result<(), Status>, OperationReport, VirtualServer) {
    let steps = steps.into_iter().map(|(after, reply)| (ms(after), reply));
    let server = VirtualServer::start(Script::of(steps));
    let result = stack.caller(server.channel(), setup).list(reported(ListAssetsRequest::default())).await;
    let report = report_of(&result);
    // The resets of losers reach the server.
    sleep(ms(1)).await;
    (result.map(drop), report, server)
}

/// When the client cancelled each request.
fn gone(server: &VirtualServer) -> Vec<Option<Duration>> {
    server.log().arrivals().iter().map(|arrival| arrival.gone).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_good_reply_wins_and_the_server_sees_the_others_cancelled() {
    for stack in Stack::ALL {
        let (result, report, server) =
            call(stack, &setup(), [(0, Reply::Hang), (120, Reply::Serve), (0, Reply::Hang)]).await;
        result.unwrap();
        let expected = [
            row(1, 500, 0, 0, 221, LOST),
            row(2, 500, 100, 100, 221, Code::Ok),
            row(3, 500, 100, 200, 221, LOST),
        ];
        assert_eq!(rows(&report), expected, "{stack:?}");
        assert_eq!(report.stop_reason(), None, "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(500)), (101, Some(500)), (201, Some(500))], "{stack:?}");
        assert_eq!(gone(&server), [Some(ms(221)), None, Some(ms(221))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_before_the_delay_is_the_only_attempt() {
    for stack in Stack::ALL {
        let (result, report, server) = call(stack, &setup(), [(99, Reply::Serve)]).await;
        result.unwrap();
        assert_eq!(rows(&report), [row(1, 500, 0, 0, 99, Code::Ok)], "{stack:?}");
        assert_eq!(server.seen().len(), 1, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_fatal_brings_the_next_at_once_and_another_ends_all() {
    let fatal = || Reply::status(Status::permission_denied("not yours"));
    for stack in Stack::ALL {
        let steps = [(30, Reply::unavailable()), (0, Reply::Hang), (50, fatal())];
        let (result, report, server) = call(stack, &setup(), steps).await;
        let status = result.unwrap_err();
        assert_eq!((status.code(), status.message()), (tonic::Code::PermissionDenied, "not yours"));
        let expected = [
            row(1, 500, 0, 0, 30, BUSY),
            row(2, 500, 0, 30, 181, LOST),
            row(3, 500, 100, 130, 181, Code::PermissionDenied),
        ];
        assert_eq!(rows(&report), expected, "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{stack:?}");
        assert_eq!(gone(&server), [None, Some(ms(181)), None], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_attempt_outlives_the_total() {
    let mut patient = setup();
    patient.settings = patient.settings.to_builder().total_timeout(ms(250)).build().unwrap();
    for stack in Stack::ALL {
        let (result, report, server) = call(stack, &patient, std::iter::repeat_n((0, Reply::Hang), 3)).await;
        assert_eq!(result.unwrap_err().code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert_eq!(report.attempt_count(), 3, "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(250)), (101, Some(150)), (201, Some(50))], "{stack:?}");
        assert_eq!(gone(&server), [Some(ms(250)); 3], "{stack:?}");
    }
}

/// The message names the attempt whose time it was, which is not the one that was sent last.
#[tokio::test(start_paused = true)]
async fn the_message_of_a_timeout_names_the_attempt() {
    for stack in Stack::ALL {
        let (result, report, _) =
            call(stack, &setup(), [(0, Reply::Hang), (0, Reply::Hang), (0, Reply::Hang)]).await;
        let expected = [
            row(1, 500, 0, 0, 500, Code::DeadlineExceeded),
            row(2, 500, 100, 100, 500, LOST),
            row(3, 500, 100, 200, 500, LOST),
        ];
        assert_eq!(rows(&report), expected, "{stack:?}");
        let message = result.unwrap_err().message().to_owned();
        assert_eq!(
            message,
            "attempt 1 of /google.cloud.asset.v1.AssetService/ListAssets timed out after 500 ms"
        );
    }
}

/// The hedge that would follow a failure at once is withheld as well as one that is due.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_is_withheld_after_a_failure_is_a_note() {
    for stack in Stack::ALL {
        let setup = setup().budgeted(RetryBudget::tokens(2, 0.1));
        let (result, report, server) =
            call(stack, &setup, [(300, Reply::Serve), (20, Reply::unavailable())]).await;
        result.unwrap();
        assert_eq!(
            rows(&report),
            [row(1, 500, 0, 0, 300, Code::Ok), row(2, 500, 100, 100, 121, BUSY)],
            "{stack:?}"
        );
        assert_eq!((report.notes(), server.seen().len()), (&[Note::HEDGE_WITHHELD][..], 2), "{stack:?}");
    }
}

/// gRFC A6: response headers commit the call.
#[tokio::test(start_paused = true)]
async fn by_grpcs_rules_headers_decide() {
    let headers_first = || {
        Reply::play([
            BodyPart::Wait(ms(150)),
            BodyPart::message(&()),
            BodyPart::trailers(&[("grpc-status", "0")]),
        ])
    };
    for stack in Stack::ALL {
        let steps = || [(0, Reply::Hang), (20, headers_first()), (0, Reply::Hang)];
        let (result, report, server) = call(stack, &setup().compatible(Compatibility::Grpc), steps()).await;
        result.unwrap();
        assert_eq!(report.attempt_count(), 2, "{stack:?}: no hedge follows the headers");
        assert_eq!(gone(&server), [Some(ms(121)), None], "{stack:?}");

        let (result, report, server) = call(stack, &setup(), steps()).await;
        result.unwrap();
        assert_eq!(report.attempt_count(), 3, "{stack:?}");
        assert_eq!(gone(&server), [Some(ms(271)), None, Some(ms(271))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_over_the_replay_limit_is_not_hedged() {
    for stack in Stack::ALL {
        let (result, report, server) = call(stack, &setup().replaying(0), [(400, Reply::Serve)]).await;
        result.unwrap();
        assert_eq!((report.attempt_count(), server.seen().len()), (1, 1), "{stack:?}");
        assert_eq!(report.notes(), [Note::REQUEST_TOO_LARGE_TO_REPLAY], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_percentile_is_learnt_from_the_calls_before() {
    let measured =
        Setup::new(RetrySettings::logical_timeout(ms(2000))).hedged(Hedging::new(2).percentile(0.9));
    for stack in Stack::ALL {
        // Twenty calls of 1 to 20 ms, then two that hang.
        let steps = (1..=20)
            .map(|after| (ms(after), Reply::Serve))
            .chain([(ms(1000), Reply::Serve), (ms(1), Reply::Serve)]);
        let server = VirtualServer::start(Script::of(steps));
        let mut caller = stack.caller(server.channel(), &measured);
        for _ in 0..20 {
            let response = caller.list(reported(ListAssetsRequest::default())).await;
            assert_eq!(report_of(&response).attempt_count(), 1, "{stack:?}");
        }
        let response = caller.list(reported(ListAssetsRequest::default())).await;
        // 18 of 20 calls took no more than 18 ms.
        let expected = [row(1, 2000, 0, 0, 20, LOST), row(2, 1982, 18, 18, 20, Code::Ok)];
        assert_eq!(rows(&report_of(&response)), expected, "{stack:?}");
    }
}

/// A generated client hedges what its table says, and stub settings refuse what may do harm.
#[test]
fn a_table_hedges_and_code_needs_an_idempotent_rpc() {
    let table = TalkStubSettings::default();
    let hedging = table.guess().hedging().unwrap();
    assert_eq!((hedging.max_attempts(), hedging.delay_between()), (3, Some(ms(300))));
    assert_eq!((hedging.codes().contains(BUSY), table.ask().hedging()), (true, None));
    let of = |name: &str| TalkStubSettings::methods().iter().find(|method| method.name() == name).unwrap();
    assert_eq!((of("Guess").is_idempotent(), of("Ask").is_idempotent()), (true, false));

    let mut stub = TalkStubSettings::builder();
    stub.guess().set_hedging(Hedging::new(2).delay(ms(50)));
    stub.ask().set_hedging(Hedging::new(2));
    let error = stub.build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "retry settings are not valid: Ask: hedging is set, but neither the retry table nor the protos say that the \
         RPC is idempotent: add allow_non_idempotent() if it may be carried out more than once"
    );
    let mut stub = TalkStubSettings::builder();
    stub.ask().set_hedging(Hedging::new(2).allow_non_idempotent());
    stub.guess().set_hedging(Hedging::new(2).percentile(f64::NAN));
    let error = stub.build().unwrap_err();
    let problems: Vec<_> = error.problems().iter().map(|problem| (problem.rpc(), problem.field())).collect();
    assert_eq!(problems, [(Some("Guess"), "hedging.percentile")]);
}

#[tokio::test(start_paused = true)]
async fn to_drop_the_call_cancels_every_attempt() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(server.channel(), &setup());
        tokio::time::timeout(ms(150), caller.list(ListAssetsRequest::default())).await.unwrap_err();
        sleep(ms(1000)).await;
        assert_eq!(gone(&server), [Some(ms(150)); 2], "{stack:?}");
    }
}

/// The first attempt succeeds, slowly, and the hedges that were due are not sent: the report says both.
#[tokio::test(start_paused = true)]
async fn a_success_without_the_hedges_that_were_due_says_so() {
    for stack in Stack::ALL {
        let setup = setup().budgeted(RetryBudget::tokens(2, 0.1));
        let server =
            VirtualServer::start(Script::of([(ms(0), Reply::unavailable()), (ms(250), Reply::Serve)]));
        let mut caller = stack.caller(server.channel(), &setup);
        // Spends the budget.
        caller.list(ListAssetsRequest::default()).await.unwrap_err();
        let response = caller.list(ListAssetsRequest::default()).await;
        let report = report_of(&response);
        assert_eq!(rows(&report), [row(1, 500, 0, 0, 250, Code::Ok)], "{stack:?}");
        assert_eq!(report.notes(), [Note::HEDGE_WITHHELD], "{stack:?}");
        assert_eq!(server.seen().len(), 2, "{stack:?}");
    }
}

/// The error is the operation's, not what became of the attempts that it cancelled.
#[tokio::test(start_paused = true)]
async fn observers_get_the_code_of_the_error_that_ended_it_all() {
    for stack in Stack::ALL {
        let recorder = Recorder::default();
        let fatal = Reply::code(tonic::Code::PermissionDenied);
        let steps = [(0, Reply::Hang), (50, fatal)];
        let (result, _, _) = call(stack, &setup().recorded(&recorder), steps).await;
        result.unwrap_err();
        let last = recorder.take().pop().unwrap();
        assert_eq!(last, "operation_failed PERMISSION_DENIED 2 attempts 151 ms NON_RETRYABLE", "{stack:?}");
    }
}

/// An attempt that was sent later may be over earlier.
#[tokio::test(start_paused = true)]
async fn a_report_lasts_until_its_last_attempt_is_over() {
    for stack in Stack::ALL {
        let steps = [(160, Reply::Serve), (10, Reply::unavailable()), (10, Reply::unavailable())];
        let (result, report, _) = call(stack, &setup(), steps).await;
        result.unwrap();
        let expected = [
            row(1, 500, 0, 0, 160, Code::Ok),
            row(2, 500, 100, 100, 111, BUSY),
            row(3, 500, 0, 111, 121, BUSY),
        ];
        assert_eq!((rows(&report), report.elapsed()), (expected.to_vec(), ms(160)), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_attempt_whose_response_can_not_be_read_is_the_one_that_won() {
    let unreadable = Reply::play([
        BodyPart::Wait(ms(150)),
        BodyPart::Data(vec![0, 0, 0, 0, 1, 255].into()),
        BodyPart::trailers(&[("grpc-status", "0")]),
    ]);
    let steps = [(0, unreadable), (0, Reply::Hang)];
    let (result, report, _) = call(Stack::Generated, &setup(), steps).await;
    assert_eq!(result.unwrap_err().code(), tonic::Code::Internal);
    let expected = [row(1, 500, 0, 0, 150, Code::Internal), row(2, 500, 100, 100, 150, LOST)];
    assert_eq!(rows(&report), expected);
}

/// ABORTED may well be the work of an attempt that was under way at the same time.
#[tokio::test(start_paused = true)]
async fn a_refusal_beside_other_attempts_is_noted() {
    for stack in Stack::ALL {
        let steps = [(150, Reply::code(tonic::Code::Aborted)), (0, Reply::Hang)];
        let (result, report, _) = call(stack, &setup(), steps).await;
        assert_eq!(result.unwrap_err().code(), tonic::Code::Aborted, "{stack:?}");
        assert_eq!(report.notes(), [Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED], "{stack:?}");
    }
}

/// A layer's own hedging is for the methods that the table or, if it has no word, the descriptors call idempotent.
#[tokio::test(start_paused = true)]
async fn a_layer_hedges_what_is_known_to_be_idempotent() {
    const TALK: &str = "[[entry]]\nfor = [\"test.talk.v1.Talk\"]\ntimeout = \"1s\"\n";
    let word = |name: &str, word: bool| {
        format!("\n[[entry]]\nfor = [\"test.talk.v1.Talk{name}\"]\nidempotent = {word}\n")
    };
    let hedging = Hedging::new(2).delay(ms(100)).non_fatal_codes([BUSY]);
    // Of the descriptors Guess is idempotent.
    for (table, described, hedging, [ask, guess]) in [
        (TALK.to_owned(), false, hedging, [1, 1]),
        (TALK.to_owned(), true, hedging, [1, 2]),
        (TALK.to_owned(), true, hedging.allow_non_idempotent(), [2, 2]),
        (TALK.to_owned() + &word("/Ask", true), false, hedging, [2, 1]),
        (TALK.to_owned() + &word("", true), false, hedging, [2, 2]),
        // The table's word goes before the descriptors'.
        (TALK.to_owned() + &word("/Guess", false), true, hedging, [1, 1]),
        (TALK.to_owned() + &word("", false), true, hedging, [1, 1]),
        // The word alone is something that the table has for a method; all else passes through.
        (word("/Ask", true), true, hedging, [2, 1]),
        (word("/Ask", false), true, hedging.allow_non_idempotent(), [1, 1]),
    ] {
        let layer = RetryLayer::new(RetryTable::parse(&table).unwrap()).hedging(hedging);
        let layer = if described { layer.facts(&tonic_gax_tests::generated::facts()) } else { layer };
        for (method, expected) in [("Ask", ask), ("Guess", guess)] {
            let server = VirtualServer::start(Script::of([(ms(0), Reply::Hang)]));
            let mut client = StockTalk::new(layer.layer(server.channel()));
            let line = Line::default();
            let call =
                async { if method == "Ask" { client.ask(line).await } else { client.guess(line).await } };
            let result = tokio::time::timeout(ms(1500), call).await;
            assert_eq!(server.seen().len(), expected, "{method} by {table}");
            assert_eq!(matches!(result, Ok(Ok(_))), expected == 2, "{method} by {table}");
        }
    }
}

/// An entry that hedges by itself is left as it is, and what is not hedged is retried as before.
#[tokio::test(start_paused = true)]
async fn a_layer_leaves_the_hedging_of_an_entry_as_it_is() {
    let settings = RetrySettings::builder().initial_retry_delay(ms(10)).max_attempts(2).build().unwrap();
    let table = RetryTable::builder()
        .service("test.talk.v1.Talk", settings.clone(), BUSY)
        .method("/test.talk.v1.Talk/Guess", settings, BUSY)
        .idempotent(true)
        .hedged(Hedging::new(4).delay(ms(30)));
    let layer = RetryLayer::new(table.build().unwrap())
        .hedging(Hedging::new(2).delay(ms(100)))
        .options(OperationOptions::new().without_jitter());
    let server = VirtualServer::start(Script::always(Reply::Hang));
    let mut client = StockTalk::new(layer.layer(server.channel()));
    tokio::time::timeout(ms(1000), client.guess(Line::default())).await.unwrap_err();
    assert_eq!(server.seen(), [(0, None), (31, None), (61, None), (91, None)]);

    let server = VirtualServer::start(Script::of([(ms(0), Reply::unavailable())]));
    let mut client = StockTalk::new(layer.layer(server.channel()));
    client.ask(Line::default()).await.unwrap();
    assert_eq!(server.seen(), [(0, None), (10, None)]);
}

/// One method is slow, and the other is not: each is hedged by its own latencies.
#[tokio::test(start_paused = true)]
async fn a_percentile_is_of_the_methods_own_calls() {
    let hedging = Hedging::new(2).percentile(0.5);
    let settings = || RetrySettings::logical_timeout(ms(10_000));
    let by_entry = RetryTable::builder().service("test.talk.v1.Talk", settings(), BUSY);
    let by_entry = by_entry.idempotent(true).hedged(hedging).build().unwrap();
    let by_layer = RetryTable::builder().service("test.talk.v1.Talk", settings(), BUSY);
    let by_layer = by_layer.idempotent(true).build().unwrap();
    for (table, hedging) in [(by_entry, None), (by_layer, Some(hedging))] {
        let layer = RetryLayer::new(table).hedging(hedging).facts(&tonic_gax_tests::generated::facts());
        let replies = |after: u64| std::iter::repeat_n((ms(after), Reply::Serve), 20);
        let steps = replies(1).chain(replies(500)).chain([(ms(0), Reply::Hang)]);
        let server = VirtualServer::start(Script::of(steps));
        let mut client = StockTalk::new(layer.layer(server.channel()));
        for _ in 0..20 {
            client.ask(Line::default()).await.unwrap();
        }
        for _ in 0..20 {
            client.guess(Line::default()).await.unwrap();
        }
        let start = server.seen().len();
        client.guess(Line::default()).await.unwrap();
        let seen = server.seen();
        let [(first, _), (second, _)] = seen[start..] else { panic!("{seen:?}") };
        assert_eq!(second - first, 501);
    }
}
