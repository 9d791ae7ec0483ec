//! Shared by the end-to-end tests: a server that follows a script, a channel to it over memory, and
//! callers of both kinds.
//!
//! Everything runs in virtual time: tokio's clock is paused and jumps from timer to timer, so that every
//! number is exact.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

mod asset;
mod caller;
pub mod chaos;
mod clock;
mod feed;
pub mod generated;
#[cfg(doctest)]
mod guide;
mod http_faults;
mod http_service;
mod named;
mod raw;
mod raw_streams;
mod recorder;
mod rest_server;
mod rows;
mod silent_proxy;
pub mod soak;
mod socket_server;
mod talk;
mod talk_caller;
mod tap;
mod tls;
mod wire;

pub use asset::Assets;
pub use caller::{Caller, Observer, Setup, Stack, delays, lasting, settings, spaced};
pub use clock::{VirtualClock, ms, virtual_time};
pub use feed::{Act, Feed, line};
pub use http_faults::{FaultServer, HttpAct, HttpArrival, HttpScript, MemoryConnector, TEST_ID};
pub use http_service::{HttpService, failed};
pub use named::NamedScripted;
pub use raw::{RawFrame, RawRequest, RawServer};
pub use raw_streams::{RawStream, RawStreams};
pub use recorder::Recorder;
pub use rest_server::{RestReply, RestReplyBody, RestRequest, RestServer};
pub use rows::{Row, codes, error_report, report_of, reported, row, rows};
pub use silent_proxy::SilentProxy;
pub use socket_server::SocketServer;
pub use talk::Talker;
pub use talk_caller::{TalkCaller, plain, three_lines};
pub use tap::{Sent, Tap};
pub use tls::{Authority, Handshake, TlsConnector, TlsServer};
pub use tonic_gax::testing::{Arrival, Beat, Log, Reply, Script, Scripted, pipes};
pub use wire::VirtualServer;
