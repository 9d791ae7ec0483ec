//! How far a request got before an error.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::Delivery;

/// How far a request got before an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum Reach {
    /// There was no connection to send it over.
    Unconnected,
    /// It never left: the connection was lost before.
    NeverSent,
    /// The server said that it has not looked at it: `REFUSED_STREAM`, or a GOAWAY below its stream.
    Refused,
    /// It may have been carried out.
    MaybeSent,
    /// The channel or client below is gone for good, and takes no request any longer.
    ChannelClosed,
}

impl Reach {
    /// The reach in the operation's terms.
    #[must_use]
    pub fn delivery(self) -> Delivery {
        match self {
            Reach::Unconnected | Reach::NeverSent => Delivery::NotSent,
            Reach::Refused => Delivery::NotProcessed,
            Reach::MaybeSent | Reach::ChannelClosed => Delivery::Unknown,
        }
    }

    /// The reach of a request that was not passed on.
    #[must_use]
    pub fn of_unsent(self) -> Self {
        if self == Reach::MaybeSent { Reach::Unconnected } else { self }
    }

    /// The reach of a request whose response had begun: it was sent.
    #[must_use]
    pub fn of_begun(self) -> Self {
        match self {
            Reach::Unconnected | Reach::NeverSent | Reach::Refused => Reach::MaybeSent,
            Reach::MaybeSent | Reach::ChannelClosed => self,
        }
    }
}
