//! For tests of programs that call services: servers that follow a script, in memory and in virtual time.
//!
//! With tokio's clock paused (`#[tokio::test(start_paused = true)]`) a test of many seconds runs in a few milliseconds, and
//! every number in it is exact.
//!
//! # Examples
//!
//! A test of an override: the server refuses twice, and what the settings make of that is compared attempt by attempt.
//!
//! ```
//! # use tonic_gax::{Code, OperationOptions, RetryLayer, RetrySettings, RetryTable};
//! # use std::time::Duration;
//! # use tower_layer::Layer as _;
//! use tonic_gax::testing::{Reply, Script, VirtualServer, assert_attempts};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let settings = RetrySettings::builder()
//! #     .initial_retry_delay(Duration::from_millis(200)).retry_delay_multiplier(2.0)
//! #     .total_timeout(Duration::from_secs(5)).build()?;
//! # let table = RetryTable::builder().service("my.Service", settings, [Code::Unavailable]).build()?;
//! # let layer = RetryLayer::new(table).options(OperationOptions::new().without_jitter());
//! # async fn call(channel: impl tonic_gax::client::Transport) -> Result<tonic::Response<()>, tonic::Status> {
//! #     let mut grpc = tonic::client::Grpc::new(channel);
//! #     grpc.ready().await.map_err(|error| tonic::Status::unknown(error.into().to_string()))?;
//! #     let path = http::uri::PathAndQuery::from_static("/my.Service/Get");
//! #     grpc.unary(tonic::Request::new(()), path, tonic_prost::ProstCodec::default()).await
//! # }
//! let server = VirtualServer::start(Script::new().on("Get", [Reply::unavailable(), Reply::unavailable()]));
//! let response = call(layer.layer(server.channel())).await;
//! // Delay, start and end in milliseconds.
//! assert_attempts!(&response, [
//!     (0, 0, 0, Code::Unavailable),
//!     (200, 200, 200, Code::Unavailable),
//!     (400, 600, 600, Code::Ok),
//! ]);
//! # Ok(())
//! # }
//! ```

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

pub use attempts::{AttemptRow, Attempts, Reported, assert_attempts};
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
