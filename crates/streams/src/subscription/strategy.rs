//! The strategy of a subscription.

use crate::resumption::StreamResumption;

/// Decides how a subscription continues over its next connection: a [`StreamResumption`] that may also reconnect after a stream
/// that ended successfully, and send messages.
///
/// Its request is all that opens a connection: one message for an RPC that responds with a stream, and the opening messages, in a
/// `Vec` for example, for one that takes a stream as well.
///
/// [`resume`](StreamResumption::resume) is called after each connection that failed. After a connection that ended
/// successfully, it is called with a status `OK` if [`ended`](Self::ended) returns `Reconnect`.
///
/// Its methods are called one at a time, by the task that polls the subscription; [`sent`](Self::sent) also by the task that sends,
/// or by the connection's task. It may use a sender of its subscription. If it panics, the panic reaches that task, and the
/// subscription ends; a panic in the connection's task is caught.
///
/// # Examples
///
/// A watch over a stream in both directions: what is watched can change, and each connection says it again.
///
/// ```
/// use std::collections::BTreeMap;
/// use tonic::Status;
/// use gax_streams::resumption::{Processed, Resume, StreamResumption};
/// use gax_streams::subscription::{OnEnd, SubscriptionStrategy};
///
/// struct Watch { topic: String, after: u64 }
/// struct Event { topic: String, number: u64 }
///
/// #[derive(Default)]
/// struct Topics(BTreeMap<String, u64>);
///
/// impl StreamResumption for Topics {
///     type Request = Vec<Watch>;
///     type Response = Event;
///
///     fn process(&mut self, event: &mut Event) -> Processed {
///         match self.0.get_mut(&event.topic) {
///             Some(after) if event.number > *after => *after = event.number,
///             _ => return Processed::Skip,
///         }
///         Processed::Deliver
///     }
///
///     fn resume(&mut self, _: &Status) -> Resume<Vec<Watch>> {
///         let watch = |(topic, after): (&String, &u64)| Watch { topic: topic.clone(), after: *after };
///         Resume::Again(self.0.iter().map(watch).collect())
///     }
/// }
///
/// impl SubscriptionStrategy for Topics {
///     type Message = Watch;
///
///     fn sent(&mut self, watch: &Watch) {
///         self.0.insert(watch.topic.clone(), watch.after);
///     }
///
///     fn ended(&mut self) -> OnEnd {
///         OnEnd::Reconnect
///     }
/// }
/// # let mut topics = Topics::default();
/// # topics.sent(&Watch { topic: "books".into(), after: 3 });
/// # assert_eq!(topics.process(&mut Event { topic: "books".into(), number: 3 }), Processed::Skip);
/// # assert_eq!(topics.process(&mut Event { topic: "books".into(), number: 4 }), Processed::Deliver);
/// # let Resume::Again(opening) = topics.resume(&Status::ok("")) else { panic!() };
/// # assert_eq!((opening.len(), opening[0].after, topics.ended()), (1, 4, OnEnd::Reconnect));
/// ```
pub trait SubscriptionStrategy: StreamResumption {
    /// A message that is sent once a connection is open: the same type as that of the opening messages. `()` where the RPC takes
    /// no stream.
    type Message: Send;

    /// This message of a [`SubscriptionSender`](crate::subscription::SubscriptionSender) is about to be sent over a connection: it
    /// is asked when it is sent, or, if no connection is open then, when one opens or takes the message. If that connection fails
    /// the message is gone: what must be said again is up to [`resume`](StreamResumption::resume). A message that it was not asked
    /// about is sent over the next connection.
    fn sent(&mut self, message: &Self::Message) {
        let _ = message;
    }

    /// A message of the strategy's own, such as an acknowledgement. This is called until it returns
    /// [nothing](NextRequest::Nothing), when a connection has opened and after each message. Acknowledgements are sent before the subscription reads on; where
    /// the server takes no more of them, it waits.
    fn next_request(&mut self) -> NextRequest<Self::Message> {
        NextRequest::Nothing
    }

    /// A connection has ended with the status `OK`. Whether that is the subscription's end; it is unless said.
    fn ended(&mut self) -> OnEnd {
        OnEnd::End
    }

    /// How many bytes a message takes that is withheld; the size of its type unless said. With prost, `encoded_len()` says it
    /// better.
    fn size(&self, message: &Self::Response) -> usize {
        size_of_val(message)
    }
}

/// The next message that a strategy sends by itself, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing, a message, or the end of messages")]
pub enum NextRequest<Q> {
    /// Nothing for now.
    Nothing,
    /// This message, over the connection that is open.
    Message(Q),
    /// Nothing more over this connection: its stream of requests ends behind what was sent before. The next connection has one
    /// again.
    HalfClose,
}

/// The meaning of a connection that ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a subscription is over, or it goes on")]
pub enum OnEnd {
    /// The subscription has ended.
    End,
    /// It continues over another connection, as behind a failure with the code `UNAVAILABLE` that is always retried.
    Reconnect,
}
