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

pub mod a6;
mod asset;
mod caller;
pub mod chaos;
mod clock;
mod fault_server;
mod feed;
pub mod generated;
#[cfg(doctest)]
mod guide;
mod http_service;
mod recorder;
mod rest_server;
mod rows;
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
pub use fault_server::{FaultServer, http2_client};
pub use feed::{Act, Feed, line};
pub use gax_testing::{Arrival, BodyPart, Break, Log, Reply, Script, Scripted, pipes};
pub use gax_testing::{
    ConnectionFault, FaultProxy, HttpArrival, HttpReply as HttpAct, HttpScript, Pipes as MemoryConnector,
    RawFrame, RawRequest, RawServer, TEST_ID, When,
};
pub use http_service::{HttpService, failed};
pub use recorder::Recorder;
pub use rest_server::{RestReply, RestReplyBody, RestRequest, RestServer};
pub use rows::{Row, codes, error_report, report_of, reported, row, rows};
pub use socket_server::SocketServer;
pub use talk::Talker;
pub use talk_caller::{TalkCaller, plain, three_lines};
pub use tap::{Sent, Tap};
pub use tls::{Authority, Handshake, TlsConnector, TlsServer};
pub use wire::VirtualServer;
