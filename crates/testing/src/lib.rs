#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attempts;
mod calls;
mod connection;
mod fault;
mod log;
mod network;
mod recording;
mod reply;
mod script;
#[cfg(feature = "toml")]
mod script_file;
mod scripted;
mod server;
#[cfg(feature = "storage-emulator")]
mod storage;
mod suite;

pub use attempts::{AttemptRow, Attempts, Reported};
pub use fault::{Fault, FaultBody, FaultLayer, FaultService};
pub use log::{Arrival, Log};
pub use network::{
    ConnectionFault, Direction, FaultProxy, Pipe, Pipes, RawFrame, RawRequest, RawServer, TokenEndpoint,
    TokenReply, When, pipes,
};
#[cfg(feature = "http")]
pub use network::{HttpArrival, HttpChange, HttpPeer, HttpReply, HttpScript, TEST_ID};
#[cfg(feature = "connection")]
pub use network::{Resolution, ScriptedResolver};
pub use recording::recording;
pub use reply::{BodyPart, Break, Reply};
pub use script::{Script, Step};
#[cfg(feature = "toml")]
pub use script_file::ParseScriptError;
pub use scripted::Scripted;
pub use server::{Empty, GrpcHandler, SocketServer, VirtualServer};
#[cfg(feature = "storage-emulator")]
pub use storage::{StorageArrival, StorageCall, StorageEmulator, StorageFault, StorageObject};
pub use suite::{SuitePart, TestedAttempt, TestedTransport, Trial, run_suite};
