//! The program `examples/memorystore.rs`, against servers that freeze, break off and refuse.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

#[expect(dead_code, reason = "a program's main is not called here")]
#[path = "../../../examples/memorystore.rs"]
mod program;

use gax_driver::RetryError;
use gax_driver::closure::RetryOutcome;
use gax_retry::{Attempt, Code, StopReason};
use program::{Failure, Redis};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tonic_gax::OperationReport;
use tonic_gax_tests::ms;

/// A server's treatment of a command that it has read.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// It sends that and closes the connection.
    Send(&'static str),
    /// It keeps the connection and never replies.
    Freeze,
}

/// The commands that came.
type Commands = Arc<Mutex<Vec<String>>>;

/// A server that does so, once for each connection in their order, and then replies `+OK`.
async fn server(acts: &'static [Act]) -> (Redis, Commands) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let redis = Redis::new(listener.local_addr().unwrap(), ms(1));
    let commands = Commands::default();
    let seen = Arc::clone(&commands);
    tokio::spawn(async move {
        let mut acts = acts.iter();
        while let Ok((io, _)) = listener.accept().await {
            let act = acts.next().copied().unwrap_or(Act::Send("+OK\r\n"));
            tokio::spawn(serve(io, act, Arc::clone(&seen)));
        }
    });
    (redis, commands)
}

async fn serve(mut io: TcpStream, act: Act, seen: Commands) {
    let mut bytes = [0; 1024];
    let length = io.read(&mut bytes).await.unwrap();
    let command = bytes.get(..length).unwrap().escape_ascii().to_string();
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(command);
    match act {
        // The client may be gone.
        Act::Send(reply) => drop(io.write_all(reply.as_bytes()).await),
        Act::Freeze => std::future::pending().await,
    }
}

type Outcome = Result<RetryOutcome<String>, RetryError<Failure>>;

fn codes(outcome: &Outcome) -> Vec<Code> {
    let report: &OperationReport = match outcome {
        Ok(reply) => reply.report(),
        Err(error) => error.report(),
    };
    report.attempts().iter().map(Attempt::code).collect()
}

async fn call(acts: &'static [Act], words: &[&str]) -> (Outcome, Vec<String>) {
    let (redis, commands) = server(acts).await;
    let outcome = redis.call(words).await;
    let commands = commands.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (outcome, commands)
}

const GET: &str = r"*2\r\n$3\r\nGET\r\n$1\r\nx\r\n";
const INCR: &str = r"*2\r\n$4\r\nINCR\r\n$1\r\nx\r\n";

#[tokio::test]
async fn a_frozen_server_does_not_hang_the_program() {
    let (outcome, commands) = call(&[Act::Freeze], &["GET", "x"]).await;
    assert_eq!(codes(&outcome), [Code::DeadlineExceeded, Code::Ok]);
    assert_eq!((&**outcome.unwrap().value(), &*commands), ("+OK", &[GET.to_owned(), GET.to_owned()][..]));

    let (outcome, commands) = call(&[Act::Freeze], &["INCR", "x"]).await;
    assert_eq!(codes(&outcome), [Code::DeadlineExceeded]);
    assert_eq!(outcome.unwrap_err().stop_reason(), Some(StopReason::NonRetryable));
    assert_eq!(commands, [INCR]);
}

#[tokio::test]
async fn a_command_whose_reply_is_lost_is_sent_again_only_if_that_does_no_harm() {
    for reply in ["", ":", ":12", "$5\r\n", "$5\r\nab", "$-1", "$x\r\n"] {
        let acts: &[Act] = vec![Act::Send(reply)].leak();
        let (outcome, commands) = call(acts, &["GET", "x"]).await;
        assert_eq!(codes(&outcome), [Code::Aborted, Code::Ok], "{reply:?}");
        assert_eq!(commands, [GET, GET]);

        let (outcome, commands) = call(acts, &["INCR", "x"]).await;
        assert_eq!((codes(&outcome), commands), (vec![Code::Aborted], vec![INCR.to_owned()]), "{reply:?}");
        assert!(matches!(outcome.unwrap_err().into_last(), Some(Failure::Lost(_))));
    }
}

#[tokio::test]
async fn a_command_that_was_refused_is_sent_again_whatever_it_does() {
    let refusals = &[
        Act::Send("-LOADING Redis is loading the dataset in memory\r\n"),
        Act::Send("-BUSY Redis is busy running a script.\r\n"),
        Act::Send(":7\r\n"),
    ];
    let (outcome, commands) = call(refusals, &["INCR", "x"]).await;
    assert_eq!(codes(&outcome), [Code::Unavailable, Code::Unavailable, Code::Ok]);
    assert_eq!((&**outcome.unwrap().value(), &*commands), (":7", &[INCR; 3].map(str::to_owned)[..]));

    let wrong = &[Act::Send("-ERR value is not an integer or out of range\r\n")];
    for words in [["INCR", "x"], ["GET", "x"]] {
        let (outcome, commands) = call(wrong, &words).await;
        assert_eq!((codes(&outcome), commands.len()), (vec![Code::FailedPrecondition], 1));
        assert!(matches!(outcome.unwrap_err().into_last(), Some(Failure::Reply(_))));
    }
}

#[tokio::test]
async fn a_command_that_was_never_sent_is_sent_again_whatever_it_does() {
    let redis = Redis::new("127.0.0.1:1".parse().unwrap(), ms(1));
    for words in [["INCR", "x"], ["GET", "x"]] {
        let outcome = redis.call(&words).await;
        assert_eq!(codes(&outcome), [Code::Unavailable; 7], "six retries");
        assert!(matches!(outcome.unwrap_err().into_last(), Some(Failure::Connect(_))));
    }
}
