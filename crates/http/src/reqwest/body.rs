//! Bodies of reqwest's requests.

use crate::request::ReplayBody;
use ::reqwest::Body;
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyStream, StreamBody};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The body of a reqwest request, which can be sent again if all of it is in memory.
///
/// reqwest reports that of bytes only. A multipart form is a stream for it, also where its parts are in memory; such a
/// stream has all its frames ready, and is taken apart here, without a copy, if its length is announced. One that has
/// to wait for something is read from a file, say, and is sent once.
pub(super) fn replayable(mut body: Body, is_announced: bool, most: usize) -> ReplayBody {
    let is_one_piece = body.as_bytes().is_some();
    if !is_one_piece && !is_announced {
        return ReplayBody::once(body);
    }
    let mut context = Context::from_waker(Waker::noop());
    let (mut pieces, mut length) = (VecDeque::new(), 0_usize);
    let next = loop {
        match Pin::new(&mut body).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(piece) if is_one_piece => return ReplayBody::from_bytes(piece),
                Ok(piece) => {
                    length = length.saturating_add(piece.len());
                    pieces.push_back(piece);
                    if length > most {
                        break None;
                    }
                }
                Err(trailers) => break Some(Ok(trailers)),
            },
            Poll::Ready(Some(Err(error))) => break Some(Err(error)),
            Poll::Ready(None) => return ReplayBody::from_pieces(pieces),
            Poll::Pending => break None,
        }
    };
    let begun = iter(pieces).map(|piece| Ok(Frame::data(piece))).chain(iter(next));
    ReplayBody::once(StreamBody::new(begun.chain(BodyStream::new(body))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Replay;
    use bytes::Bytes;
    use http_body_util::BodyExt as _;
    use reqwest::multipart::{Form, Part};

    async fn read(body: ReplayBody) -> Bytes {
        body.collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn bytes_and_forms_in_memory_can_be_sent_again() {
        let bytes = Bytes::from(vec![7; 100]);
        let body = replayable(Body::from(bytes.clone()), false, 100);
        assert_eq!(body.bytes().unwrap().as_ptr(), bytes.as_ptr(), "without a copy");

        let form = Form::new().text("name", "photo").part("file", Part::bytes(vec![1, 2, 3]));
        let body = replayable(of_form(form), true, 10_000);
        assert!(body.replay().is_some());
        assert_eq!(read(body.replay().unwrap()).await, read(body).await);
    }

    fn of_form(form: Form) -> Body {
        let mut request = reqwest::Client::new().post("http://h/").multipart(form).build().unwrap();
        request.body_mut().take().unwrap()
    }

    /// A stream that has a piece ready, and the rest after a wait.
    struct Waiting(u8);

    impl HttpBody for Waiting {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            self.0 += 1;
            match self.0 {
                1 => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"one "))))),
                2 => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                3 => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"two"))))),
                _ => Poll::Ready(None),
            }
        }
    }

    #[tokio::test]
    async fn streams_that_wait_or_are_too_long_are_sent_whole_and_once() {
        for is_announced in [false, true] {
            let body = replayable(Body::wrap(Waiting(0)), is_announced, 10_000);
            assert!(body.replay().is_none());
            assert_eq!(read(body).await, "one two");
        }
        let form = Form::new().part("file", Part::bytes(vec![b'z'; 1000]));
        let body = replayable(of_form(form), true, 100);
        assert!(body.replay().is_none());
        let text = read(body).await;
        assert!(text.windows(1000).any(|bytes| bytes == [b'z'; 1000]));
    }
}
