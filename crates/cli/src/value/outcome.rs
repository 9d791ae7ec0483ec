//! The server's reply to an attempt, as a flag says it.

use super::codes::code;
use super::duration;
use gax_retry::{Code, Response};
use gax_text::closest;
use std::time::Duration;

const ADVICE: &str =
    "write how long and which code, such as 300ms:UNAVAILABLE or 20ms:OK, or lost, or refused, or hang";

/// Reads `300ms:UNAVAILABLE` (a reply after that long), `UNAVAILABLE` (immediately) or `hang`. In place of a code, `lost` is
/// a request that never left, and `refused` one that the server did not look at. `stream:` before all that is a stream that
/// has delivered messages before.
pub(crate) fn outcome(text: &str) -> Result<Response, String> {
    match text.trim().split_once(':') {
        Some((first, rest)) if first.eq_ignore_ascii_case("stream") => of_stream(rest),
        _ => of_reply(text),
    }
}

/// The end of a stream that had begun: it was sent, and looked at.
fn of_stream(text: &str) -> Result<Response, String> {
    let name = text.rsplit(':').next().unwrap_or_default().trim();
    if ["lost", "refused"].iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return Err(format!("is a stream that was {name}, and delivered messages; write one of the two"));
    }
    of_reply(text).map(Response::of_stream)
}

fn of_reply(text: &str) -> Result<Response, String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("hang") {
        return Ok(Response::none());
    }
    let (after, name) = match text.split_once(':') {
        Some((after, name)) => {
            let after = duration(after)
                .map_err(|_| format!("starts with {after:?}, which is not a duration; {ADVICE}"))?;
            (after, name.trim())
        }
        None => (Duration::ZERO, text),
    };
    if name.eq_ignore_ascii_case("lost") {
        return Ok(Response::lost(after));
    }
    if name.eq_ignore_ascii_case("refused") {
        return Ok(Response::refused(after));
    }
    let code = code(name).ok_or_else(|| {
        let others = ["lost", "refused", "hang"].into_iter();
        let close = closest(name, others.chain(Code::ALL.map(Code::name)));
        let advice = close.map_or_else(|| ADVICE.to_owned(), |close| format!("did you mean {close}?"));
        if text.contains(':') {
            format!("ends with {name:?}, which is not a gRPC status code; {advice}")
        } else {
            format!("is not an outcome; {advice}")
        }
    })?;
    Ok(Response::after(after, code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let ms = Duration::from_millis;
        assert_eq!(outcome("300ms:UNAVAILABLE"), Ok(Response::after(ms(300), Code::Unavailable)));
        assert_eq!(outcome("1.5s:ok"), Ok(Response::after(ms(1500), Code::Ok)));
        assert_eq!(outcome("0:14"), Ok(Response::after(ms(0), Code::Unavailable)));
        assert_eq!(outcome("INTERNAL"), Ok(Response::after(ms(0), Code::Internal)));
        assert_eq!(outcome("Hang"), Ok(Response::none()));
        assert_eq!(outcome("20ms:lost"), Ok(Response::lost(ms(20))));
        assert_eq!(outcome("Refused"), Ok(Response::refused(ms(0))));
        let broken = Response::after(ms(300), Code::Unavailable).of_stream();
        assert_eq!(outcome(" stream:300ms:UNAVAILABLE"), Ok(broken));
        assert_eq!(outcome("stream:hang"), Ok(Response::none().of_stream()));
        assert_eq!(outcome("Stream: UNAVAILABLE"), Ok(Response::after(ms(0), Code::Unavailable).of_stream()));
    }

    #[test]
    fn the_wrong_half_is_named() {
        assert!(outcome("300:UNAVAILABLE").unwrap_err().starts_with("starts with \"300\""));
        assert!(outcome("-1s:OK").unwrap_err().starts_with("starts with \"-1s\""));
        assert!(outcome("300ms:GONE").unwrap_err().starts_with("ends with \"GONE\""));
        assert!(outcome("300ms:UNAVAILABL").unwrap_err().ends_with("code; did you mean UNAVAILABLE?"));
        assert_eq!(outcome("hng"), Err("is not an outcome; did you mean hang?".to_owned()));
        assert!(outcome("300ms").unwrap_err().starts_with("is not an outcome"));
        assert!(outcome("stream:300ms:GONE").unwrap_err().starts_with("ends with \"GONE\""));
        let lost = "is a stream that was lost, and delivered messages; write one of the two";
        assert_eq!(outcome("stream:20ms:lost"), Err(lost.to_owned()));
        assert!(outcome("stream:").unwrap_err().starts_with("is not an outcome"));
        assert!(outcome("").unwrap_err().starts_with("is not an outcome"));
    }
}
