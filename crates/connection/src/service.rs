//! A connection that retries can stand on.

use crate::call::ConnectionFuture;
use crate::error::ConnectionError;
use crate::pool::{CallTerms, Pick, Placement, Pool, SharedPool};
use bytes::Bytes;
use gax_driver::__private::{ConnectionLink, RetryContext};
use gax_wire::__private::grpc_timeout;
use http::{Request, Response};
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::StdError;
use tower_service::Service;

/// A connection to a service, for generated clients, tonic's own clients and the layer. Use it instead of
/// `tonic::transport::Channel`. Clones share everything.
///
/// Compared with a `Channel`:
///
/// * It detects dead connections without pings, which servers may reject: the system closes a connection whose bytes are not acknowledged
///   (`TCP_USER_TIMEOUT`, 20 s), and if two attempts in a row use up their RPC timeouts without a byte from the server, the next attempt
///   uses a new connection, while the calls on the old one continue.
/// * It reconnects immediately after a connection that served calls, however it ended, and otherwise after a
///   [back-off](super::ConnectBackoff). Meanwhile, calls whose `UNAVAILABLE` is retried wait, and the others fail, unless they
///   [wait for ready](super::ConnectionBuilder::wait_for_ready).
/// * It calls the [resolver](super::Resolver) again, and moves to new addresses without losing calls.
/// * It spreads calls over [several endpoints](super::Picker), and a retry or hedge avoids those that failed its operation.
/// * A request that a closing connection did not send is sent over another one, without an error.
/// * It uses the [proxy](super::ConnectionBuilder::proxy) that the environment names.
/// * If a server's `MAX_CONCURRENT_STREAMS` is reached, it opens another connection, and calls wait for the first free stream.
/// * Observers are notified of its [events](gax_driver::observe::ConnectionEvent).
///
/// A connection is established when a call needs it. If it can't be established, it is tried again after the back-off. Connections
/// are closed when the last clone is dropped and their calls have ended.
///
/// # Cancel safety
///
/// Dropping a call's future resets its stream. Other calls on the connection continue.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use gax_connection::{Connection, Picker};
///
/// let connection = Connection::to("dns:///library:50051").picker(Picker::RoundRobin).connect().await?;
/// # drop(connection);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Connection {
    pool: Arc<SharedPool>,
}

impl Connection {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool: Arc::new(SharedPool::new(pool)) }
    }

    /// The target, as it was given.
    #[must_use]
    pub fn target(&self) -> &str {
        self.pool.target()
    }

    /// Ends the [back-off](super::ConnectBackoff) of all endpoints: those that wait for their next attempt to connect make it now, and the
    /// resolver is asked again. Call it when the program learns that a server is back, or that the network has changed. Connections that
    /// exist stay as they are.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn example(connection: &gax_connection::Connection) {
    /// // The network is back.
    /// connection.reconnect();
    /// # }
    /// ```
    pub fn reconnect(&self) {
        self.pool.hurry();
    }

    /// Waits until there is a connection, or none can be made.
    pub(crate) async fn ready(&self) -> Result<(), ConnectionError> {
        let waits_for_ready = self.pool.settings().chosen.wait_for_ready;
        let terms = CallTerms { waits_for_ready, ..CallTerms::default() };
        loop {
            let placement = match self.pool.pick(&terms, || 0) {
                Pick::Placed(placement) => placement,
                Pick::Wait(_, place) => match place.await {
                    Ok(placement) => placement,
                    Err(_) => continue,
                },
            };
            return match placement {
                Placement::None(error) => Err(ConnectionError::unmade(&error)),
                Placement::To(_) | Placement::Later | Placement::Ready => Ok(()),
            };
        }
    }
}

/// For requests of any body: those of gRPC, and those of HTTP that are sent over HTTP/2 alone.
impl<B> Service<Request<B>> for Connection
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<StdError>,
{
    type Response = Response<Body>;
    type Error = ConnectionError;
    type Future = ConnectionFuture;

    /// Always ready: whether there is a connection belongs to each call, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ConnectionFuture {
        let mut request = request.map(Body::new);
        let settings = self.pool.settings();
        let link = request.extensions_mut().remove::<ConnectionLink>();
        let retry = link.as_ref().and_then(ConnectionLink::retry);
        let retry = retry.or_else(|| request.extensions().get().map(RetryContext::of));
        let waits_for_ready = link.as_ref().and_then(ConnectionLink::waits_for_ready);
        let waits_for_ready = waits_for_ready.unwrap_or(settings.chosen.wait_for_ready);
        let timeout = request.headers().get(grpc_timeout::GRPC_TIMEOUT);
        let timeout = timeout.and_then(|timeout| grpc_timeout::parse(timeout.as_bytes()));
        let request = settings.admit(request);
        let terms = CallTerms { waits_for_ready, link, is_counted: false, retry, needs_stream: true };
        ConnectionFuture::new(Arc::clone(&self.pool), request, terms, timeout)
    }
}

gax_text::short_debug! { self: Connection { target: self.target() } }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::network::{Network, connected, soon};
    use gax_driver::report::DelayType;

    const TERMS: CallTerms =
        CallTerms { waits_for_ready: false, link: None, is_counted: false, retry: None, needs_stream: true };

    /// A report of the attempt would speak of a wait.
    #[tokio::test(start_paused = true)]
    async fn a_call_does_not_wait_if_there_is_a_free_stream_and_goes_at_once_when_it_has_waited() {
        let mut network = Network::new(&[1]);
        let connection = network.connection().max_connections(1).connect_lazy().unwrap();
        let pick = || connection.pool.pick(&TERMS, || 0);
        let Pick::Wait(DelayType::Connecting, place) = pick() else { panic!("there is no connection yet") };
        let mut server = network.dialed().await;
        server.open(Some(2)).await;
        let Placement::To(first) = soon(place).await.unwrap() else { panic!("it is no retry") };
        let Pick::Placed(Placement::To(second)) = pick() else { panic!("there is a stream") };
        let Pick::Wait(DelayType::Stream, place) = pick() else { panic!("there is no stream") };
        drop(first);
        assert!(matches!(pick(), Pick::Wait(DelayType::Stream, _)), "another call waits for it already");
        assert!(matches!(soon(place).await.unwrap(), Placement::To(_)));
        drop(second);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_of_connect_needs_no_stream() {
        let mut network = Network::new(&[1]);
        let connection = network.connection().connect_lazy().unwrap();
        let _server = connected(&mut network, &connection).await;
        let terms = CallTerms { needs_stream: false, ..TERMS };
        assert!(matches!(connection.pool.pick(&terms, || 0), Pick::Placed(Placement::Ready)));
    }
}
