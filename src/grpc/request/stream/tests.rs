//! Attempts that share a stream, polled by hand.

use super::RequestStream;
use crate::note;
use bytes::Bytes;
use gax_driver::{__private::ReplayMemory, ReplayOptions};
use http::{HeaderMap, HeaderValue};
use http_body::{Body as HttpBody, Frame};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use tonic::Status;
use tonic::body::Body;

type Item = Option<Result<Frame<Bytes>, Status>>;

/// A stream that the test feeds.
#[derive(Clone, Default)]
struct Live(Arc<Mutex<(VecDeque<Item>, Option<Waker>)>>);

impl Live {
    fn put(&self, item: Item) {
        let mut state = self.0.lock().unwrap();
        state.0.push_back(item);
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    fn send(&self, text: &'static str) {
        self.put(Some(Ok(Frame::data(Bytes::from_static(text.as_bytes())))));
    }

    /// Returns whether nobody has it any longer.
    fn is_gone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl HttpBody for Live {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Item> {
        let mut state = self.0.lock().unwrap();
        if let Some(item) = state.0.pop_front() {
            return Poll::Ready(item);
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The body of one attempt.
struct Reading {
    body: Body,
    wakes: Arc<Wakes>,
}

impl Reading {
    fn of(stream: &RequestStream, attempt: u32) -> Self {
        Self { body: stream.body(attempt), wakes: Arc::default() }
    }

    /// All that is there now: frames, `.` at the end, `-` for trailers, `!` for an error.
    fn read(&mut self) -> String {
        let waker = Waker::from(Arc::clone(&self.wakes));
        let mut context = Context::from_waker(&waker);
        let mut read = String::new();
        while let Poll::Ready(item) = Pin::new(&mut self.body).poll_frame(&mut context) {
            match item {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => read.push_str(std::str::from_utf8(&data).unwrap()),
                    Err(_) => read.push('-'),
                },
                None => return read + ".",
                Some(Err(status)) => return format!("{read}!{}", status.message()),
            }
        }
        read
    }

    fn wakes(&self) -> u32 {
        self.wakes.0.swap(0, Ordering::Relaxed)
    }
}

const GONE: &str = "!the operation continues without this attempt";

fn stream(bytes: usize) -> (Live, RequestStream) {
    let options = ReplayOptions::new().max_replay_bytes(bytes);
    let live = Live::default();
    (live.clone(), RequestStream::new(Body::new(live), &options, &ReplayMemory::default()))
}

#[test]
fn each_attempt_is_sent_all_and_reads_on() {
    let (live, stream) = stream(1000);
    let mut first = Reading::of(&stream, 1);
    live.send("a");
    live.send("b");
    assert_eq!(first.read(), "ab");
    let mut second = Reading::of(&stream, 2);
    assert_eq!(second.read(), "ab");
    // Both wait: the one that is woken wakes the other.
    live.send("c");
    assert_eq!((first.wakes(), second.wakes()), (0, 1));
    assert_eq!(second.read(), "c");
    assert_eq!(first.wakes(), 1);
    assert_eq!(first.read(), "c");
    live.put(Some(Ok(Frame::trailers(HeaderMap::from_iter([(
        http::header::TE,
        HeaderValue::from_static("x"),
    )])))));
    assert_eq!((first.read(), second.read()), ("-.".to_owned(), "-.".to_owned()));
    assert!(live.is_gone());
    assert_eq!(Reading::of(&stream, 3).read(), "abc-.");
}

#[test]
fn an_attempt_that_is_dropped_leaves_the_stream_to_the_others() {
    let (live, stream) = stream(1000);
    let mut first = Reading::of(&stream, 1);
    let mut second = Reading::of(&stream, 2);
    live.send("a");
    assert_eq!((first.read(), second.read()), ("a".to_owned(), "a".to_owned()));
    // The second one would be woken for the next frame.
    drop(second);
    assert_eq!(first.wakes(), 1);
    assert_eq!(first.read(), "");
    live.send("b");
    assert_eq!(first.wakes(), 1);
    assert_eq!(first.read(), "b");
    // One that has failed as far as the operation knows reads no more, although the transport still asks.
    stream.ended(1);
    live.send("c");
    assert_eq!(first.read(), GONE);
    assert_eq!(Reading::of(&stream, 2).read(), "abc");
}

#[test]
fn the_reply_leaves_one_attempt_and_no_buffer() {
    let (live, stream) = stream(1000);
    let (mut first, mut second) = (Reading::of(&stream, 1), Reading::of(&stream, 2));
    live.send("a");
    assert_eq!((first.read(), second.read()), ("a".to_owned(), "a".to_owned()));
    live.send("b");
    assert_eq!(second.read(), "b");
    stream.replied(1);
    drop(stream);
    assert_eq!(second.read(), GONE);
    // The rest, which it was not sent, is still there.
    assert_eq!(first.read(), "b");
    live.send("c");
    live.put(None);
    assert_eq!(first.read(), "c.");
    drop((first, second));
    assert!(live.is_gone());
}

#[test]
fn a_frame_over_the_limit_is_sent_by_the_attempt_that_read_it() {
    let (live, stream) = stream(64);
    let (mut first, mut second) = (Reading::of(&stream, 1), Reading::of(&stream, 2));
    let operation = Arc::new(Wakes::default());
    assert_eq!(stream.watch(1, &Waker::from(Arc::clone(&operation))), None);
    live.send("a");
    live.send("b");
    assert_eq!((first.read(), second.read()), ("ab".to_owned(), "ab".to_owned()));
    second.wakes();
    live.send("c");
    assert_eq!(first.read(), "c");
    assert_eq!(operation.0.load(Ordering::Relaxed), 1);
    let notes = [1, 2].map(|attempt| stream.watch(attempt, Waker::noop()));
    assert_eq!(notes, [Some(note::STREAM_TOO_LARGE_TO_REPLAY), None]);
    assert_eq!(stream.committed(), Some(1));
    // By the frame, which it would have read, and by the commit.
    assert_eq!((second.wakes(), second.read()), (2, GONE.to_owned()));
    assert_eq!(Reading::of(&stream, 3).read(), GONE);
    live.send("d");
    assert_eq!(first.read(), "d");
    // It fails: nobody reads the stream any longer.
    stream.ended(1);
    assert_eq!(first.read(), GONE);
    assert!(live.is_gone());
}

#[test]
fn an_operation_that_is_dropped_drops_the_stream() {
    let (live, stream) = stream(1000);
    let mut first = Reading::of(&stream, 1);
    live.send("a");
    assert_eq!(first.read(), "a");
    drop(stream);
    assert!(live.is_gone());
    assert_eq!((first.wakes(), first.read()), (1, GONE.to_owned()));
}

#[test]
fn a_stream_that_fails_fails_for_every_attempt() {
    let (live, stream) = stream(1000);
    let mut first = Reading::of(&stream, 1);
    live.send("a");
    live.put(Some(Err(Status::out_of_range("too long"))));
    assert_eq!(first.read(), "a!too long");
    assert_eq!(stream.error().unwrap().code(), tonic::Code::OutOfRange);
    assert_eq!(Reading::of(&stream, 2).read(), "a!too long");
}

/// A stream that panics is not waited for.
#[test]
fn a_stream_that_panics_fails() {
    struct Panics;

    impl HttpBody for Panics {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Item> {
            std::panic::resume_unwind(Box::new(()))
        }
    }

    let stream = RequestStream::new(Body::new(Panics), &ReplayOptions::new(), &ReplayMemory::default());
    let mut first = Reading::of(&stream, 1);
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| first.read()));
    assert!(read.is_err());
    drop(first);
    assert_eq!(Reading::of(&stream, 2).read(), "!the stream of requests can't be read");
}
