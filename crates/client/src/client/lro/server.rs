//! The server of a long-running operation, as polling calls it.

use crate::client::lro::generated::google::longrunning::Operation;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// A call on its way. It is an operation with its own retries.
pub(in crate::client) type BoxCall<T> = Pin<Box<dyn Future<Output = Result<T, Status>> + Send>>;

/// Calls the server of a long-running operation by the operation's name. No call outlives its deadline.
pub(in crate::client) trait OperationsServer: Send {
    /// Asks for the operation as it is now.
    fn get(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<Operation>;

    /// Asks for the operation once it is done, or after that time.
    fn wait(&mut self, name: &str, time: Duration, deadline: Option<Instant>) -> BoxCall<Operation>;

    /// Asks the server to stop it.
    fn cancel(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<()>;

    /// Says that no caller wants its result any longer.
    fn delete(&mut self, name: &str) -> BoxCall<()>;
}

/// The call that starts an operation, by its deadline.
pub(in crate::client) type FirstCall = Box<dyn FnOnce(Option<Instant>) -> BoxCall<Operation> + Send>;
