//! Bodies of requests through the layer.

use crate::request::replay::Replay;
use crate::request::replay_body::ReplayBody;
use bytes::Bytes;

/// The types that a request through the layer may have as its body.
///
/// A body that can be [replayed](Replay) stays as it is. Whatever else is in memory ([`String`], [`Vec<u8>`],
/// [`Bytes`], a static text or slice, `()` for no body) becomes a [`ReplayBody`], which all attempts share: it is never
/// copied. The client under the layer is then one that sends `ReplayBody`s, such as
/// `Client::builder(..).build_http::<ReplayBody>()`.
///
/// A stream has to be wrapped: in [`ReplayBody::from_fn`], [`ReplayBody::from_async_fn`] or [`ReplayBody::once`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a request body that the layer can send again",
    note = "bytes can be sent again: Full<Bytes>, Bytes, String, Vec<u8>, &'static str, ()",
    note = "wrap a stream in ReplayBody::from_fn (opened again for each attempt) or ReplayBody::once (sent once)"
)]
pub trait IntoReplay {
    /// The body that is sent.
    type Body: Replay;

    /// The body that is sent, made without a copy.
    fn into_replay(self) -> Self::Body;
}

impl<B: Replay> IntoReplay for B {
    type Body = B;

    fn into_replay(self) -> B {
        self
    }
}

macro_rules! in_memory {
    ($($kind:ty),*) => {$(
        impl IntoReplay for $kind {
            type Body = ReplayBody;

            fn into_replay(self) -> ReplayBody {
                self.into()
            }
        }

        impl From<$kind> for ReplayBody {
            fn from(bytes: $kind) -> Self {
                Self::from_bytes(bytes)
            }
        }
    )*};
}

in_memory!(Bytes, String, Vec<u8>, &'static str, &'static [u8]);

impl IntoReplay for () {
    type Body = ReplayBody;

    fn into_replay(self) -> ReplayBody {
        ReplayBody::empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Empty, Full};

    /// The memory of a body's bytes, and that of the body made for another attempt.
    fn addresses(body: impl IntoReplay<Body = ReplayBody>) -> [*const u8; 2] {
        let body = body.into_replay();
        [body.bytes().unwrap().as_ptr(), body.replay().unwrap().bytes().unwrap().as_ptr()]
    }

    #[test]
    fn what_is_in_memory_is_never_copied() {
        let text = String::from("a text of the caller's");
        let vec = vec![7_u8; 100];
        let bytes = Bytes::from(vec![8; 100]);
        for (at, seen) in [
            (text.as_ptr(), addresses(text)),
            (vec.as_ptr(), addresses(vec)),
            (bytes.as_ptr(), addresses(bytes)),
            ("static".as_ptr(), addresses("static")),
            (b"slice".as_ptr(), addresses(&b"slice"[..])),
        ] {
            assert_eq!(seen, [at, at]);
        }
        assert_eq!(().into_replay().bytes().unwrap(), "");
        assert_eq!(Empty::<Bytes>::new().into_replay().bytes().unwrap(), "");
        let full = Full::new(Bytes::from(vec![9; 100]));
        let [first, second] = [full.bytes().unwrap(), full.replay().unwrap().bytes().unwrap()];
        assert_eq!(first.as_ptr(), second.as_ptr());
    }
}
