//! Nothing that a server says, and no name, can steer the terminal on which an error or a report is printed.

use gax_driver::Retryer;
use std::error::Error as _;
use tonic::Status;
use tonic_gax::{Code, OperationError};
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, lasting, ms};

/// A title for the terminal, a CSI of C1, and characters that turn the direction of writing.
const EVIL: &str = "\u{1b}]0;PWNED\u{7}\r\u{9b}2J\u{202e}\u{2067}";
const SHOWN: &str = r"\u{1b}]0;PWNED\u{7}\r\u{9b}2J\u{202e}\u{2067}";

/// Returns whether a terminal would act on something in the text.
fn is_raw(text: &str) -> bool {
    text.contains(|c: char| c.is_control() && c != '\n' || EVIL.contains(c) && !c.is_ascii())
}

#[tokio::test(start_paused = true)]
async fn a_server_s_message_is_printed_escaped() {
    for stack in Stack::ALL {
        let script = Script::always(Reply::status(Status::aborted(EVIL)));
        let server = VirtualServer::start(script);
        let status = stack.list(server.channel(), &Setup::new(lasting(3000))).await.unwrap_err();
        assert_eq!(status.message(), EVIL, "{stack:?}");
        let error = OperationError::of(&status).unwrap();
        for printed in [
            format!("{status}"),
            format!("{status:?}"),
            error.to_string(),
            format!("{error:?}"),
            error.report().to_string(),
        ] {
            assert!(!is_raw(&printed), "{stack:?}: {printed:?}");
        }
    }
}

/// Our own message repeats the server's last word.
#[tokio::test(start_paused = true)]
async fn a_server_s_last_word_is_escaped_in_the_timeout_s_message() {
    for stack in Stack::ALL {
        let said = Reply::status(Status::unavailable(EVIL));
        let server = VirtualServer::start(Script::at_once([said]).then_always(ms(0), Reply::Hang));
        let status = stack.list(server.channel(), &Setup::new(lasting(3000))).await.unwrap_err();
        assert!(
            status.message().contains(&format!("UNAVAILABLE: {SHOWN}")),
            "{stack:?}: {:?}",
            status.message()
        );
        assert!(!is_raw(status.message()), "{stack:?}");
        let cause = OperationError::of(&status).unwrap().source().unwrap();
        assert_eq!(cause.downcast_ref::<Status>().unwrap().message(), EVIL, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_s_name_is_printed_escaped_and_kept() {
    let retryer = Retryer::new(&lasting(3000), [Code::Unavailable]).named(EVIL);
    let error = retryer.run(|_| async { Err::<(), Status>(Status::aborted("no")) }).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("{SHOWN} failed after 1 attempt in ")), "{error}");
    assert!(
        error.report().to_string().starts_with(&format!("{SHOWN} failed after 1 attempt in ")),
        "{}",
        error.report()
    );
    assert_eq!(error.report().method(), EVIL);
    assert!(!is_raw(&format!("{error:?}")));
}
