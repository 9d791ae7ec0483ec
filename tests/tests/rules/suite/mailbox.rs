//! A transport of somebody else's: letters into a mailbox, whose replies come by return of post.

use gax_driver::observe::Transport;
use gax_driver::protocol::{
    AttemptContext, AttemptResult, CommitPoint, Driver, Name, OperationConfig, Protocol, Start, Step,
};
use gax_retry::{Code, StartedAttempt};
use gax_testing::{SuitePart, TestedAttempt, TestedTransport, Trial, run_suite};
use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;
use tonic_gax::OperationReport;

/// The post that comes back for a letter: that it was opened, and at last the reply.
enum Post {
    Opened,
    Reply(Result<String, Code>),
}

/// Sends a letter for each attempt.
struct Mailbox {
    letters: UnboundedSender<(String, UnboundedSender<Post>)>,
    text: String,
    failure: Option<Code>,
}

impl Protocol for Mailbox {
    type Config = OperationConfig;
    type Attempt = UnboundedReceiver<Post>;
    type Slot = Option<String>;

    const TRANSPORT: &'static Transport = &Transport::new("mailbox");

    fn name(&self, _: &OperationConfig) -> Name {
        Name::from(Cow::Borrowed("mailbox"))
    }

    fn start<'a>(&'a self, config: &'a OperationConfig) -> Start<'a> {
        config.start()
    }

    fn begin(
        &mut self,
        _: &OperationConfig,
        _: StartedAttempt,
        _: &mut AttemptContext<'_>,
    ) -> UnboundedReceiver<Post> {
        let (reply, attempt) = unbounded_channel();
        // A mailbox that is gone drops the sender, which is the attempt's end.
        let _gone = self.letters.send((self.text.clone(), reply));
        attempt
    }

    fn poll(
        &mut self,
        _: &OperationConfig,
        mut attempt: Pin<&mut UnboundedReceiver<Post>>,
        _: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut Option<String>,
    ) -> Poll<Step> {
        let reply = match ready!(attempt.poll_recv(cx)) {
            Some(Post::Opened) => return Poll::Ready(Step::Committed(CommitPoint::FirstMessage)),
            Some(Post::Reply(reply)) => reply,
            None => Err(Code::Unavailable),
        };
        Poll::Ready(Step::Ended(match reply {
            Ok(text) => {
                *slot = Some(text);
                AttemptResult::done()
            }
            Err(code) => {
                self.failure = Some(code);
                AttemptResult::failed(code)
            }
        }))
    }
}

/// Sends a letter until there is a reply to it.
async fn send(mailbox: Mailbox, config: OperationConfig) -> (Result<String, Code>, OperationReport) {
    let mut driver = pin!(Driver::new(mailbox, Arc::new(config)));
    let mut reply = None;
    let (_, report) = poll_fn(|cx| driver.as_mut().poll_end(cx, &mut reply)).await;
    // An attempt whose time was up has left no failure.
    let failure = driver.protocol().failure.unwrap_or(Code::DeadlineExceeded);
    (reply.ok_or(failure), report)
}

/// Replies to each letter as its attempt's attempt is.
struct PostOffice;

impl TestedTransport for PostOffice {
    fn run(&self, trial: Trial) -> Pin<Box<dyn Future<Output = OperationReport>>> {
        let (letters, mut arriving) = unbounded_channel::<(String, UnboundedSender<Post>)>();
        let attempts = trial.attempts().to_vec();
        tokio::spawn(async move {
            for attempt in attempts {
                let Some((text, reply)) = arriving.recv().await else { return };
                tokio::spawn(async move {
                    let (after, result) = match attempt {
                        TestedAttempt::Replies(after) => (after, Ok(text)),
                        TestedAttempt::Fails(after, code) => (after, Err(code)),
                        TestedAttempt::BreaksOff(after) => {
                            let _given_up = reply.send(Post::Opened);
                            (after, Err(Code::Unavailable))
                        }
                        _ => return reply.closed().await,
                    };
                    sleep(after).await;
                    let _given_up = reply.send(Post::Reply(result));
                });
            }
        });
        Box::pin(async move {
            let mailbox = Mailbox { letters, text: "hello".to_owned(), failure: None };
            let (reply, report) = send(mailbox, trial.options().config(trial.policy())).await;
            assert_eq!(reply.is_ok(), report.stop_reason().is_none());
            report
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        (part == SuitePart::Credentials).then_some(NO_TOKENS)
    }
}

const NO_TOKENS: &str = "letters have no tokens";

#[tokio::test(start_paused = true)]
async fn a_mailbox_passes() {
    assert_eq!(run_suite(&PostOffice).await, Ok(vec![(SuitePart::Credentials, NO_TOKENS)]));
}
