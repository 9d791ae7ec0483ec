//! Faults of transfers, and the requests that they happen to.

use crate::http::transfers::setup::KIB_256;
use bytes::Bytes;
use gax_testing::{Direction, HttpArrival, HttpChange, HttpReply, StorageFault};
use std::sync::Arc;
use tonic_gax_tests::{ConnectionFault, When};

/// A request of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    Any,
    /// The start of a session.
    Start,
    /// Bytes of an upload.
    Send,
    /// Bytes of an upload behind its twentieth chunk.
    Late,
    /// The last bytes of an upload.
    Last,
    /// The last bytes of an upload, or the question what the server has.
    End,
    /// The question what the server has.
    Query,
    /// A download, or its first range.
    First,
    /// Another range of a download.
    Range,
    /// A download, or any range of it.
    Download,
}

impl On {
    pub(super) fn is(self, arrival: &HttpArrival) -> bool {
        let range = arrival.header("content-range").unwrap_or_default();
        let is_query = range.starts_with("bytes */") && arrival.body.is_empty();
        let is_single =
            ["multipart", "media"].iter().any(|kind| arrival.target.contains(&format!("uploadType={kind}")));
        let is_send = arrival.method == "PUT" && !is_query || is_single;
        let is_last = is_send && range.split_once('/').is_none_or(|(_, total)| total != "*");
        let ends = is_last
            && range.strip_prefix("bytes ").is_none_or(|range| {
                let (places, total) = range.split_once('/').unwrap_or_default();
                let last = places.split_once('-').and_then(|(_, last)| last.parse::<u64>().ok());
                last.map(|last| last + 1) == total.parse().ok()
            });
        let begin =
            range.strip_prefix("bytes ").and_then(|range| range.split('-').next()?.parse::<usize>().ok());
        let is_download = arrival.method == "GET" && arrival.target.contains("alt=media");
        let is_first = arrival.header("range").is_none_or(|range| range.starts_with("bytes=0-"));
        match self {
            Self::Any => true,
            Self::Start => arrival.target.contains("uploadType=resumable") && arrival.method == "POST",
            Self::Send => is_send,
            Self::Late => is_send && begin.is_some_and(|begin| begin >= 20 * KIB_256),
            Self::Last => ends,
            Self::End => ends || is_query,
            Self::Query => is_query,
            Self::First => is_download && is_first,
            Self::Range => is_download && !is_first,
            Self::Download => is_download,
        }
    }
}

/// The facts that replies are made of.
#[derive(Debug, Clone)]
pub(super) struct World {
    /// Another origin of the same server.
    pub(super) other: String,
    pub(super) content: Bytes,
    pub(super) generation: i64,
}

impl World {
    pub(super) fn crc32c(&self) -> String {
        use base64::Engine as _;
        base64::prelude::BASE64_STANDARD.encode(crc32c::crc32c(&self.content).to_be_bytes())
    }

    /// The object in a response that does not end.
    pub(super) fn endless(&self) -> Vec<u8> {
        let Self { content, generation, .. } = self;
        let head = format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx-goog-generation: {generation}\r\nx-goog-hash: crc32c={}\r\n\r\n{:x}\r\n",
            self.crc32c(),
            content.len(),
        );
        [head.as_bytes(), content, b"\r\n"].concat()
    }
}

type Make = Arc<dyn Fn(&HttpArrival, &World) -> HttpReply + Send + Sync>;

/// A fault of a transfer.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of the trial")]
pub(super) struct Fault {
    /// The connection breaks in the middle first.
    pub(super) is_cut: bool,
    /// So many connections have these faults.
    pub(super) connections: (usize, Vec<ConnectionFault>),
    /// So many of these requests get that reply.
    pub(super) reply: Option<(On, usize, Make)>,
    pub(super) storage: Vec<StorageFault>,
    /// Idle connections get a 408.
    pub(super) is_idle: bool,
    /// The object is a large one.
    pub(super) is_large: bool,
    /// All uploads go in chunks.
    pub(super) is_chunked: bool,
    /// Connections are tunnels through a proxy.
    pub(super) is_tunnelled: bool,
    /// Nothing more comes, which only the idle timeout ends.
    pub(super) is_silent: bool,
}

impl Fault {
    /// The reply to the first such request.
    pub(super) fn once(
        on: On,
        make: impl Fn(&HttpArrival, &World) -> HttpReply + Send + Sync + 'static,
    ) -> Self {
        Self { reply: Some((on, 1, Arc::new(make))), ..Self::default() }
    }

    /// That reply to the first such request.
    pub(super) fn fixed(on: On, reply: HttpReply) -> Self {
        Self::once(on, move |_, _| reply.clone())
    }

    /// The origin's reply to the first such request, with these changes.
    pub(super) fn changed(on: On, changes: Vec<HttpChange>) -> Self {
        Self::fixed(on, HttpReply::Forward(changes))
    }

    /// To so many such requests.
    pub(super) fn times(mut self, requests: usize) -> Self {
        if let Some((_, times, _)) = &mut self.reply {
            *times = requests;
        }
        self
    }

    /// To all such requests.
    pub(super) fn always(self) -> Self {
        self.times(usize::MAX)
    }

    /// Once the connection has broken in the middle.
    pub(super) fn after_a_cut(self) -> Self {
        Self { is_cut: true, ..self }
    }

    pub(super) fn of_connections(count: usize, fault: ConnectionFault) -> Self {
        let is_silent = matches!(fault, ConnectionFault::Stall { .. });
        Self { connections: (count, vec![fault]), is_silent, ..Self::default() }
    }

    /// The connection is closed after so many bytes, so often.
    pub(super) fn cut(direction: Direction, bytes: u64, times: usize) -> Self {
        Self::of_connections(times, ConnectionFault::Close(When::Bytes(direction, bytes)))
    }

    pub(super) fn of_storage(fault: StorageFault) -> Self {
        Self { storage: vec![fault], ..Self::default() }
    }
}
