//! A reply of a script, as the outcome of an attempt in a plan.

use gax_retry::{Code, Response, ServerDelay};
use gax_testing::{BodyPart, Break, Reply, Step};
use std::time::Duration;

/// A reply as a plan takes it, and whether the call is committed to it.
pub(super) fn outcome(step: &Step, headers_commit: bool) -> (Response, bool) {
    let after = step.after();
    let of = |code| Response::after(after, code);
    match step.reply() {
        reply if reply.is_unprocessed() => (Response::refused(after), false),
        Reply::Serve | Reply::Pass => (of(Code::Ok), true),
        Reply::Status(status) => {
            let mut pushbacks = status.metadata().get_all("grpc-retry-pushback-ms").iter();
            let asked = match (pushbacks.next(), pushbacks.next()) {
                (None, _) => ServerDelay::None,
                (Some(one), None) => {
                    let time = one.to_str().ok().and_then(|text| text.parse::<i32>().ok());
                    let time = time.and_then(|time| u64::try_from(time).ok()).map(Duration::from_millis);
                    time.map_or(ServerDelay::Never, ServerDelay::Exactly)
                }
                (Some(_), Some(_)) => ServerDelay::Never,
            };
            (of(Code::from_wire(status.code().into())).asking(asked), false)
        }
        Reply::Http(status, _) => (of(of_http(*status)), false),
        Reply::Play(_, beats) => {
            let has_messages = beats.iter().any(|beat| matches!(beat, BodyPart::Data(_)));
            let is_committed = headers_commit || has_messages;
            let response = match beats.last() {
                Some(BodyPart::Trailers(trailers)) => {
                    let status = trailers.get("grpc-status").and_then(|status| status.to_str().ok());
                    of(status.and_then(|status| status.parse().ok()).map_or(Code::Unknown, Code::from_wire))
                }
                Some(BodyPart::Break(how)) => of_break(after, *how),
                _ => Response::none(),
            };
            (response, is_committed)
        }
        // Attempts that never arrive follow a refusal.
        Reply::Break(how) => (of_break(after, *how), matches!(how, Break::Refuse(_))),
        _ => (Response::none(), false),
    }
}

fn of_break(after: Duration, how: Break) -> Response {
    match how {
        Break::Reset(reason) => Response::after(after, of_reset(reason)),
        Break::Close | Break::Refuse(_) => Response::after(after, Code::Unavailable),
        _ => Response::none(),
    }
}

/// gRPC's codes for responses that are not gRPC.
fn of_http(status: u16) -> Code {
    match status {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502..=504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

/// gRPC's codes for the errors of HTTP/2.
fn of_reset(reason: u32) -> Code {
    match reason {
        7 => Code::Unavailable,
        8 => Code::Cancelled,
        11 => Code::ResourceExhausted,
        12 => Code::PermissionDenied,
        0..=13 => Code::Internal,
        _ => Code::Unknown,
    }
}
