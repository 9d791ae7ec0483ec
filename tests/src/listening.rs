//! Ways to call an RPC that replies with a stream.

use crate::Setup;
use crate::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use crate::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{CallOptions, RequestExt as _, RetryService};
use tower_layer::Layer as _;

/// A way to call `Listen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Listening {
    /// By the generated client.
    Generated,
    /// By tonic's own client over the layer.
    Layer,
    /// tonic's own client over a layer that knows of which kind the RPC is.
    Described,
}

impl Listening {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Generated, Self::Layer, Self::Described];
    /// Those that know that it replies with a stream.
    pub const KNOWING: [Self; 2] = [Self::Generated, Self::Described];

    /// The RPC timeout of an attempt that starts then.
    #[must_use]
    pub fn timeout(self, start: u64) -> u64 {
        if self == Listening::Layer { 1000 } else { 10_000 - start }
    }

    /// The client.
    #[must_use]
    pub fn client(self, channel: Channel, setup: &Setup) -> Listener {
        match self {
            Listening::Generated => {
                let mut stub = TalkStubSettings::builder();
                stub.listen().set_retry_settings(setup.settings.clone()).set_retryable_codes(setup.codes);
                let mut settings =
                    TalkSettings::create(stub.build().unwrap()).with_compatibility(setup.compatibility);
                if let Some(bytes) = setup.max_replay_bytes {
                    settings = settings.with_max_replay_bytes(bytes);
                }
                settings = settings.with_retries_enabled(setup.retries_enabled);
                Listener::Generated(TalkClient::with_settings(channel, settings))
            }
            Listening::Layer => Listener::Tonic(TonicTalkClient::new(setup.layer().layer(channel))),
            Listening::Described => {
                Listener::Tonic(TonicTalkClient::new(setup.layer_with_descriptors().layer(channel)))
            }
        }
    }
}

/// A client of `Listen`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Listener {
    /// The generated one.
    Generated(TalkClient<Channel>),
    /// tonic's own over the layer.
    Tonic(TonicTalkClient<RetryService<Channel>>),
}

impl Listener {
    /// Asks for three lines, and for a report.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn listen(&mut self) -> Result<Response<Streaming<Line>>, Status> {
        self.listen_with(CallOptions::new().report(true)).await
    }

    /// Asks for three lines with these options.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn listen_with(&mut self, options: CallOptions) -> Result<Response<Streaming<Line>>, Status> {
        let line = Line { text: "a".to_owned(), count: 3 };
        let request = Request::new(line).with_call_options(options);
        match self {
            Listener::Generated(client) => client.listen(request).await,
            Listener::Tonic(client) => client.listen(request).await,
        }
    }
}
