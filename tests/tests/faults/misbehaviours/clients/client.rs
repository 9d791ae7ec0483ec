//! The clients of the suite: each makes a call of a number.

use crate::faults::misbehaviours::clients::assets::{operations, pages};
use crate::faults::misbehaviours::clients::batches::batches;
use crate::faults::misbehaviours::clients::connector::Connector;
use crate::faults::misbehaviours::clients::credentials::credentials;
use crate::faults::misbehaviours::clients::grpc::{generated, layered, plain};
use crate::faults::misbehaviours::clients::http::{http, plain_http, rest, transfers};
use crate::faults::misbehaviours::clients::streams::{resumed, subscribed};
use crate::faults::misbehaviours::server::Ledger;
use std::future::Future;
use std::pin::Pin;
use tonic::Status;
use tonic_gax::OperationError;

/// A client that the suite plays rows to. Calls with an odd number can't be retried, where a client makes single calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Layer,
    Generated,
    ConnectedLayer,
    ConnectedGenerated,
    Http1,
    Http2,
    Transfers1,
    Transfers2,
    Rest1,
    Rest2,
    Resumed,
    Subscribed,
    Batches,
    Operations,
    Pages,
    Credentials,
    /// tonic's own client over a `Channel`, and hyper's own, which retry nothing.
    PlainGrpc,
    PlainHttp1,
    PlainHttp2,
}

use Client::{
    Batches, ConnectedGenerated, ConnectedLayer, Generated, Http1, Http2, Layer, Operations, Pages,
    PlainGrpc, PlainHttp1, PlainHttp2, Rest1, Rest2, Resumed, Subscribed, Transfers1, Transfers2,
};

impl Client {
    pub(crate) const PLAIN: [Self; 3] = [PlainGrpc, PlainHttp1, PlainHttp2];

    /// The clients of that letter.
    pub(crate) fn of(letter: char) -> &'static [Self] {
        match letter {
            'L' => &[Layer],
            'G' => &[Generated],
            'K' => &[ConnectedLayer, ConnectedGenerated],
            'H' => &[Http1, Http2],
            'T' => &[Transfers1, Transfers2],
            'R' => &[Rest1, Rest2],
            'S' => &[Resumed, Subscribed],
            'C' => &[Self::Credentials],
            'B' => &[Batches],
            'O' => &[Operations],
            _ => &[Pages],
        }
    }

    pub(crate) fn is_connected(self) -> bool {
        matches!(self, ConnectedLayer | ConnectedGenerated)
    }

    /// Returns whether it has delays that grow with an outage: between attempts to connect, each is 0.6 times those before it together and
    /// differs by a fifth, so that the last one is up to 0.9 times as long as the outage. Those between the attempts of a poll of an
    /// operation grow by 0.3.
    pub(crate) fn has_growing_delays(self) -> bool {
        self.is_connected() || self == Operations
    }

    pub(crate) fn is_http1(self) -> bool {
        matches!(self, Http1 | Transfers1 | Rest1 | PlainHttp1)
    }

    pub(crate) fn is_transfer(self) -> bool {
        matches!(self, Transfers1 | Transfers2)
    }

    /// Returns whether this call is one that settings save.
    pub(crate) fn saves(self, call: u32) -> bool {
        let is_single = matches!(
            self,
            Layer | Generated | ConnectedLayer | ConnectedGenerated | Http1 | Http2 | Rest1 | Rest2
        );
        !(Self::PLAIN.contains(&self) || is_single && call % 2 == 1)
    }
}

/// How a call ended, as its caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    /// Not what was asked for, as if it were.
    Wrong(String),
    Failed {
        message: String,
        /// Whether the error says that the server has not carried it out.
        says_not_done: bool,
    },
}

impl End {
    pub(crate) fn of<T>(result: Result<T, Status>, is_right: impl FnOnce(T) -> bool) -> Self {
        match result.map(is_right) {
            Ok(true) => Self::Done,
            Ok(false) => Self::Wrong("another reply".to_owned()),
            Err(status) => {
                let says_not_done =
                    OperationError::of(&status).is_some_and(|error| !error.may_have_been_applied());
                Self::Failed { message: status.to_string(), says_not_done }
            }
        }
    }

    pub(crate) fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed { message: error.to_string(), says_not_done: false }
    }

    pub(crate) fn numbers(numbers: &[u32], first: u32, last: u32, error: Option<Status>) -> Self {
        match error {
            Some(status) => Self::failed(status),
            None if numbers.iter().copied().eq(first..=last) => Self::Done,
            None => Self::Wrong(format!("{numbers:?}")),
        }
    }
}

pub(crate) type Calling = Pin<Box<dyn Future<Output = End> + Send>>;
/// Makes the call of that number.
pub(crate) type Calls = Box<dyn Fn(u32) -> Calling + Send + Sync>;

impl Client {
    /// The calls of a client that connects so.
    pub(crate) fn calls(self, connector: &Connector, ledger: &Ledger) -> Calls {
        match self {
            Layer => layered(connector, connector.channel(false)),
            Generated => generated(connector, connector.channel(false)),
            ConnectedLayer => layered(connector, connector.connection()),
            ConnectedGenerated => generated(connector, connector.connection()),
            Http1 => http(connector, false),
            Http2 => http(connector, true),
            Transfers1 => transfers(connector, false),
            Transfers2 => transfers(connector, true),
            Rest1 => rest(connector, false),
            Rest2 => rest(connector, true),
            Resumed => resumed(connector.options(), connector.channel(false)),
            Subscribed => subscribed(connector.options(), connector.channel(false)),
            Batches => batches(connector),
            Operations => operations(connector),
            Pages => pages(connector),
            Self::Credentials => credentials(connector, ledger),
            PlainGrpc => plain(connector),
            PlainHttp1 => plain_http(connector, false),
            PlainHttp2 => plain_http(connector, true),
        }
    }
}
