//! The two kinds of clients of Talk, under one name.

use crate::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use crate::generated::test::talk::v1::{Line, TalkClient};
use crate::{Setup, Stack};
use gax_client::ResponseStream;
use tonic::transport::Channel;
use tonic::{IntoRequest, IntoStreamingRequest, Response, Status, Streaming};
use tonic_gax::{RetryLayer, RetryService};

/// A client of Talk.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TalkCaller {
    /// The generated one.
    Generated(TalkClient<Channel>),
    /// tonic's own over the layer.
    Tonic(TonicTalkClient<RetryService<Channel>>),
}

impl Stack {
    /// The stacks that know that `Listen` replies with a stream.
    pub const KNOWING: [Self; 2] = [Self::Generated, Self::LayerWithDescriptors];

    /// The caller of Talk.
    #[must_use]
    pub fn talk(self, channel: Channel, setup: &Setup) -> TalkCaller {
        match self {
            Stack::Generated => TalkCaller::Generated(TalkClient::with_settings(channel, setup.talk())),
            Stack::Layer => TalkCaller::over(&setup.layer(), channel),
            Stack::LayerWithDescriptors => TalkCaller::over(&setup.layer_with_descriptors(), channel),
        }
    }
}

/// A request of three lines.
#[must_use]
pub fn three_lines() -> Line {
    Line { text: "a".to_owned(), count: 3 }
}

impl TalkCaller {
    /// tonic's own client over that layer.
    #[must_use]
    pub fn over(layer: &RetryLayer, channel: Channel) -> Self {
        Self::Tonic(TonicTalkClient::new(layer.layer(channel)))
    }

    /// Calls `Ask`.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn ask(&mut self, request: impl IntoRequest<Line>) -> Result<Response<Line>, Status> {
        match self {
            Self::Generated(client) => client.ask(request).await,
            Self::Tonic(client) => client.ask(request).await,
        }
    }

    /// Calls `Guess`.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn guess(&mut self, request: impl IntoRequest<Line>) -> Result<Response<Line>, Status> {
        match self {
            Self::Generated(client) => client.guess(request).await,
            Self::Tonic(client) => client.guess(request).await,
        }
    }

    /// Calls `Listen`.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn listen(
        &mut self,
        request: impl IntoRequest<Line>,
    ) -> Result<Response<Streaming<Line>>, Status> {
        match self {
            Self::Generated(client) => client.listen(request).await.map(|response| response.map(plain)),
            Self::Tonic(client) => client.listen(request).await,
        }
    }

    /// Calls `Tell`.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn tell(
        &mut self,
        lines: impl IntoStreamingRequest<Message = Line>,
    ) -> Result<Response<Line>, Status> {
        match self {
            Self::Generated(client) => client.tell(lines).await,
            Self::Tonic(client) => client.tell(lines).await,
        }
    }

    /// Calls `Chat`.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn chat(
        &mut self,
        lines: impl IntoStreamingRequest<Message = Line>,
    ) -> Result<Response<Streaming<Line>>, Status> {
        match self {
            Self::Generated(client) => client.chat(lines).await.map(|response| response.map(plain)),
            Self::Tonic(client) => client.chat(lines).await,
        }
    }
}

/// tonic's own stream, of a call whose stream is not resumed.
#[must_use]
pub fn plain(lines: ResponseStream<Line>) -> Streaming<Line> {
    lines.into_streaming().unwrap()
}
