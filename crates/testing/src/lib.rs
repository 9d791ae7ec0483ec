#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attempts;
mod connection;
mod fault;
mod log;
mod network;
mod recording;
mod reply;
mod script;
mod scripted;
mod server;
#[cfg(feature = "storage-emulator")]
mod storage;
mod suite;

pub use attempts::{AttemptRow, Attempts, Reported};
pub use fault::{Fault, FaultBody, FaultFuture, FaultLayer, FaultService};
pub use log::{Arrival, Log};
pub use network::{
    ConnectionFault, Direction, FaultProxy, HttpArrival, HttpChange, HttpPeer, HttpReply, HttpScript, Pipe,
    Pipes, RawFrame, RawRequest, RawServer, TEST_ID, TokenEndpoint, TokenReply, When, pipes,
};
pub use network::{Resolution, ScriptedResolver};
pub use recording::{ParseRecordingError, Recording};
pub use reply::{Beat, Reply};
pub use script::{Script, Step};
pub use scripted::Scripted;
pub use server::VirtualServer;
#[cfg(feature = "storage-emulator")]
pub use storage::{StorageArrival, StorageCall, StorageEmulator, StorageFault, StorageObject};
pub use suite::{SuitePart, TestedAttempt, TestedTransport, Trial, run_suite};
