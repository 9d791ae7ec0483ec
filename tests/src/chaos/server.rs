//! A random server.

use super::{Draw, DrawnServer};
use crate::clock::ms;
use crate::generated::test::talk::v1::Line;
use bytes::{BufMut as _, Bytes, BytesMut};
use gax_testing::{BodyPart, Break, Reply, Script};
use http::HeaderMap;
use prost::Message as _;
use std::time::Duration;
use tonic::{Code, Status};

/// A server's replies to the requests that reach it, one after the other, and how it treats its connections.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RandomServer {
    /// The replies, and how long after the request each comes.
    pub steps: Vec<(Duration, Reply)>,
    /// The reply to every request after those.
    pub last: (Duration, Reply),
    /// No connection has more streams at a time.
    pub stream_limit: Option<u32>,
    /// Which of the replies is a message of that length instead, in bytes.
    pub oversize: Option<(usize, usize)>,
}

impl DrawnServer for RandomServer {
    fn draw(draw: &mut Draw) -> Self {
        let stream_limit = draw.sometimes(15, |draw| draw.small(1, 3));
        // A server that keeps its connections can be compared with the client request by request.
        let breaks = stream_limit.is_some() || draw.percent(50);
        let steps = (0..draw.between(0, 14)).map(|_| Self::step(draw, breaks)).collect();
        let last = if draw.percent(70) { (Duration::ZERO, Reply::Serve) } else { Self::step(draw, breaks) };
        let oversize = draw.sometimes(10, |draw| {
            let length = draw.pick(&[MAX_DECODED + 1, MAX_BUFFERED + 1]);
            (usize::try_from(draw.below(4)).unwrap(), length)
        });
        Self { steps, last, stream_limit, oversize }
    }

    /// No connection ends, and none is full.
    fn is_calm(&self) -> bool {
        let keeps = |(_, reply): &(Duration, Reply)| {
            !matches!(reply, Reply::Break(Break::GoAway { .. } | Break::Close))
        };
        self.stream_limit.is_none() && self.steps.iter().chain([&self.last]).all(keeps)
    }
}

impl RandomServer {
    /// One reply, and how long after the request it comes.
    #[must_use]
    pub fn step(draw: &mut Draw, breaks: bool) -> (Duration, Reply) {
        let after = if draw.percent(50) { Duration::ZERO } else { draw.ms(1, 400) };
        let reply = if breaks && draw.percent(30) { breaking(draw) } else { reply(draw) };
        (after, reply)
    }

    /// Returns whether a message is one that such a server makes up, whatever it was asked for.
    #[must_use]
    pub fn makes_up(line: &Line) -> bool {
        line.count < 3 && line.text.bytes().all(|letter| letter == b'a')
    }

    /// The script.
    #[must_use]
    pub fn script(&self) -> Script {
        let (after, reply) = self.last.clone();
        let mut steps = self.steps.clone();
        if let Some((place, length)) = self.oversize
            && let Some((_, reply)) = steps.get_mut(place)
        {
            *reply = oversize(length);
        }
        Script::of(steps).then_always(after, reply)
    }
}

/// The longest message that tonic decodes, and the longest response that the layer buffers.
const MAX_DECODED: usize = 4 * 1024 * 1024;
const MAX_BUFFERED: usize = MAX_DECODED + 64 * 1024;

fn breaking(draw: &mut Draw) -> Reply {
    match draw.below(3) {
        0 => Reply::Break(Break::Close),
        _ => {
            Reply::Break(Break::GoAway { reason: draw.pick(&[0, 0, 1, 2, 11, 13]), taken: draw.percent(50) })
        }
    }
}

fn code(draw: &mut Draw) -> Code {
    if draw.percent(60) { Code::Unavailable } else { Code::from_i32(i32::try_from(draw.below(17)).unwrap()) }
}

fn reply(draw: &mut Draw) -> Reply {
    match draw.below(16) {
        0..=2 => Reply::Serve,
        3..=5 => Reply::status(Status::new(code(draw), "drawn")),
        6 => Reply::pushback(draw.pick(&[-1, 0, 1, 30, 300, 100_000])),
        7 => Reply::Hang,
        8 => Reply::stall(),
        9 => Reply::Break(Break::Reset(draw.small(0, 14))),
        10 => wrong_content(draw),
        11 => Reply::play_with(
            &[("grpc-status", draw.pick(&["0", "14", "banana", "-3", "99999999999"]))],
            [BodyPart::Hang],
        ),
        _ => played(draw),
    }
}

/// No gRPC at all.
fn wrong_content(draw: &mut Draw) -> Reply {
    let status = draw.pick(&[200, 200, 302, 400, 401, 404, 429, 500, 502, 503, 504]);
    let kind = draw.pick(&["text/html", "application/json", "application/grpc+thrift", ""]);
    if draw.percent(20) {
        return Reply::http(status, &[]);
    }
    Reply::http(status, &[("content-type", kind), ("retry-after", "1")])
}

/// Headers, and what follows bit by bit.
fn played(draw: &mut Draw) -> Reply {
    let mut beats = Vec::new();
    if draw.percent(40) {
        beats.push(BodyPart::Wait(draw.ms(1, 600)));
    }
    let messages = draw.pick(&[0, 1, 1, 1, 3]);
    for count in 0..messages {
        message(draw, count, &mut beats);
        if draw.percent(25) {
            beats.push(BodyPart::Wait(draw.ms(1, 300)));
        }
    }
    if draw.percent(10) {
        beats.push(BodyPart::Data(junk(draw)));
    }
    match draw.below(10) {
        // Half closed: the stream ends without a status.
        0 => {}
        1 => beats.push(BodyPart::Hang),
        2 => beats.push(garbage(draw)),
        3 => beats.push(BodyPart::status(&Status::new(code(draw), "in trailers"))),
        _ => beats.push(BodyPart::trailers(&[("grpc-status", "0")])),
    }
    Reply::play(beats)
}

fn message(draw: &mut Draw, count: u32, beats: &mut Vec<BodyPart>) {
    let line = Line { text: "a".repeat(draw.pick(&[0, 3, 200])), count };
    let whole = framed(&line);
    match draw.below(6) {
        // Tiny frames.
        0 => {
            for byte in whole {
                beats.push(BodyPart::Data(Bytes::copy_from_slice(&[byte])));
                if draw.percent(10) {
                    beats.push(BodyPart::Wait(ms(1)));
                }
            }
        }
        // In two parts, with a stall between.
        1 => {
            let (first, second) = whole.split_at(draw.pick(&[1, 4, 5]).min(whole.len()));
            beats.push(BodyPart::Data(Bytes::copy_from_slice(first)));
            beats.push(BodyPart::Wait(draw.ms(1, 500)));
            beats.push(BodyPart::Data(Bytes::copy_from_slice(second)));
        }
        _ => beats.push(BodyPart::Data(whole.into())),
    }
}

fn framed(line: &Line) -> Vec<u8> {
    let message = line.encode_to_vec();
    [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), &message].concat()
}

/// A message of that length, and the end of a good reply.
fn oversize(length: usize) -> Reply {
    let mut message = BytesMut::with_capacity(5 + length);
    message.put_u8(0);
    message.put_u32(u32::try_from(length).unwrap());
    message.put_bytes(0, length);
    Reply::play([BodyPart::Data(message.freeze()), BodyPart::trailers(&[("grpc-status", "0")])])
}

/// Bytes that no client should take.
fn junk(draw: &mut Draw) -> Bytes {
    match draw.below(4) {
        // The beginning of a message longer than anybody takes.
        0 => Bytes::from_static(&[0, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]),
        // A compressed one, although nobody said how.
        1 => Bytes::from_static(&[1, 0, 0, 0, 2, 31, 139]),
        // A flag that there isn't.
        2 => Bytes::from_static(&[9, 0, 0, 0, 0]),
        // A part of a message.
        _ => Bytes::from_static(&[0, 0, 0, 0, 9, 1]),
    }
}

fn garbage(draw: &mut Draw) -> BodyPart {
    let mut trailers = HeaderMap::new();
    let status = draw.pick(&["", "abc", "-1", "99", "14 ", "4294967296", "14", "0"]);
    if draw.percent(80) {
        trailers.insert("grpc-status", status.parse().unwrap());
    }
    if draw.percent(50) {
        trailers.insert("grpc-message", draw.pick(&["%zz", "%ff%fe", "%", "fine"]).parse().unwrap());
    }
    if draw.percent(50) {
        let details = draw.pick(&["!!!", "CA4", "AAAAAAAAAAAA", "Co8BCg=="]);
        trailers.insert("grpc-status-details-bin", details.parse().unwrap());
    }
    if draw.percent(50) {
        let pushback = draw.pick(&["", "abc", "1.5", "99999999999999999999", "5"]);
        trailers.append("grpc-retry-pushback-ms", pushback.parse().unwrap());
        if draw.percent(30) {
            trailers.append("grpc-retry-pushback-ms", "7".parse().unwrap());
        }
    }
    BodyPart::Trailers(trailers)
}
