//! A stream of requests, as all attempts of its operation share it.

use bytes::Bytes;
use gax_driver::__private::{Limit, Reserved};
use http::HeaderMap;
use http_body::{Body as _, Frame};
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;

/// The stream, and what has been read of it. An attempt first gets what attempts before it, or next to it, were sent, then
/// reads on; all that it reads is there for the others.
#[derive(Debug)]
pub(super) struct Shared {
    /// The rest, which is still to come; `None` while an attempt reads, and once it has ended.
    live: Option<Body>,
    /// The attempt that reads.
    reading: Option<u64>,
    end: Option<StreamEnd>,
    /// The frames that were read, in the order of the stream.
    frames: VecDeque<Bytes>,
    /// How many came before the first of them.
    passed: usize,
    reserved: Reserved,
    readers: Vec<Reader>,
    last_id: u64,
    stage: Stage,
    over: Option<(u32, Limit)>,
    /// The operation, which wants to know when a limit is passed.
    operation: Option<Waker>,
}

/// How the stream ended.
#[derive(Debug)]
enum StreamEnd {
    Whole(Option<HeaderMap>),
    Failed(Status),
}

/// An attempt that is being sent the stream.
#[derive(Debug)]
struct Reader {
    id: u64,
    attempt: u32,
    /// The number of the next frame in the stream.
    next: usize,
    has_trailers: bool,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Another attempt may follow.
    Buffering,
    /// This one is the last: what it has been sent is released.
    Committed(u64),
    /// None is sent anything any longer.
    Closed,
}

/// The next piece that an attempt is sent.
pub(super) enum Next {
    Frame(Frame<Bytes>),
    End,
    Failed(Status),
    /// The attempt reads on by itself, and puts the stream back.
    Read(Body),
    /// Nothing is there yet.
    Wait,
    /// The operation continues without this attempt.
    Gone,
}

/// Work that is left to do when the lock is free: other people's code may run in it.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    wakers: Vec<Waker>,
    live: Option<Body>,
}

impl Deferred {
    pub(super) fn run(self) {
        drop(self.live);
        self.wakers.into_iter().for_each(Waker::wake);
    }
}

/// The memory that a frame takes: its bytes, and never less than what is needed to keep it.
fn cost(frame: &Bytes) -> usize {
    frame.len().max(size_of::<Bytes>())
}

impl Shared {
    pub(super) fn new(live: Body, reserved: Reserved) -> Self {
        Self {
            live: Some(live),
            reading: None,
            end: None,
            frames: VecDeque::new(),
            passed: 0,
            reserved,
            readers: Vec::new(),
            last_id: 0,
            stage: Stage::Buffering,
            over: None,
            operation: None,
        }
    }

    /// An attempt is sent the stream from its beginning. Returns the name of that copy.
    pub(super) fn attach(&mut self, attempt: u32) -> u64 {
        self.last_id += 1;
        if self.stage == Stage::Buffering {
            let id = self.last_id;
            self.readers.push(Reader { id, attempt, next: 0, has_trailers: false, waker: None });
        }
        self.last_id
    }

    fn reader(&mut self, id: u64) -> Option<&mut Reader> {
        self.readers.iter_mut().find(|reader| reader.id == id)
    }

    /// The next piece for that attempt.
    pub(super) fn next(&mut self, id: u64, cx: &Context<'_>) -> Next {
        let (passed, is_open) = (self.passed, self.end.is_none());
        let Some(reader) = self.readers.iter_mut().find(|reader| reader.id == id) else {
            return Next::Gone;
        };
        if let Some(frame) = self.frames.get(reader.next.saturating_sub(passed)).cloned() {
            reader.next += 1;
            self.let_go();
            return Next::Frame(Frame::data(frame));
        }
        if is_open {
            match &mut reader.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
        match &self.end {
            Some(StreamEnd::Whole(Some(trailers))) if !reader.has_trailers => {
                reader.has_trailers = true;
                Next::Frame(Frame::trailers(trailers.clone()))
            }
            Some(StreamEnd::Whole(_)) => Next::End,
            Some(StreamEnd::Failed(status)) => Next::Failed(status.clone()),
            None => match self.live.take() {
                Some(live) => {
                    self.reading = Some(id);
                    Next::Read(live)
                }
                None => Next::Wait,
            },
        }
    }

    /// The attempt has read on, and gives the stream back.
    pub(super) fn put_back(
        &mut self,
        id: u64,
        live: Body,
        read: Poll<Option<Result<Frame<Bytes>, Status>>>,
        cx: &Context<'_>,
        after: &mut Deferred,
    ) -> Next {
        self.reading = None;
        if self.stage == Stage::Closed {
            after.live = Some(live);
            return Next::Gone;
        }
        match read {
            Poll::Pending => {
                self.live = Some(live);
                if self.reader(id).is_some() {
                    return Next::Wait;
                }
                // Its task is woken and will not come: the others read on.
                self.wake_all(after);
                return Next::Gone;
            }
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => {
                    self.live = Some(live);
                    self.admit(id, data, after);
                }
                Err(frame) => {
                    after.live = Some(live);
                    self.end = Some(StreamEnd::Whole(frame.into_trailers().ok()));
                }
            },
            Poll::Ready(Some(Err(status))) => {
                after.live = Some(live);
                self.end = Some(StreamEnd::Failed(status));
            }
            Poll::Ready(None) => {
                after.live = Some(live);
                self.end = Some(StreamEnd::Whole(None));
            }
        }
        self.wake_others(id, after);
        self.next(id, cx)
    }

    /// Another frame has been read. If there is no room to keep it, no attempt follows the one that read it, which has been
    /// sent more than any other.
    fn admit(&mut self, id: u64, data: Bytes, after: &mut Deferred) {
        if self.stage == Stage::Buffering
            && let Some(attempt) = self.reader(id).map(|reader| reader.attempt)
            && let Err(limit) = self.reserved.take(cost(&data))
        {
            self.over = Some((attempt, limit));
            self.commit(id, after);
            after.wakers.extend(self.operation.take());
        }
        self.frames.push_back(data);
    }

    /// No attempt follows that one.
    fn commit(&mut self, id: u64, after: &mut Deferred) {
        self.stage = Stage::Committed(id);
        let others = self.readers.extract_if(.., |reader| reader.id != id);
        after.wakers.extend(others.filter_map(|reader| reader.waker));
        self.let_go();
    }

    /// Once there is a last attempt, what it has been sent is of no use any longer.
    fn let_go(&mut self) {
        let Stage::Committed(id) = self.stage else { return };
        let next = self.reader(id).map_or(0, |reader| reader.next);
        while self.passed < next
            && let Some(frame) = self.frames.pop_front()
        {
            self.passed += 1;
            self.reserved.give_back(cost(&frame));
        }
    }

    fn close(&mut self, after: &mut Deferred) {
        self.stage = Stage::Closed;
        self.wake_all(after);
        self.readers.clear();
        self.frames = VecDeque::new();
        self.reserved.give_back(usize::MAX);
        after.live = self.live.take();
    }

    fn wake_all(&mut self, after: &mut Deferred) {
        after.wakers.extend(self.readers.iter_mut().filter_map(|reader| reader.waker.take()));
    }

    fn wake_others(&mut self, id: u64, after: &mut Deferred) {
        let others = self.readers.iter_mut().filter(|reader| reader.id != id);
        after.wakers.extend(others.filter_map(|reader| reader.waker.take()));
    }

    /// An attempt that failed is sent nothing any longer: what is still to come is for the next one.
    pub(super) fn ended(&mut self, attempt: u32, after: &mut Deferred) {
        match self.over {
            Some((last, _)) if last == attempt => self.close(after),
            _ => {
                self.wake_all(after);
                self.readers.retain(|reader| reader.attempt != attempt);
            }
        }
    }

    /// The reply is that of this attempt: it reads on alone.
    pub(super) fn replied(&mut self, attempt: u32, after: &mut Deferred) {
        match self.readers.iter().rfind(|reader| reader.attempt == attempt).map(|reader| reader.id) {
            Some(id) => self.commit(id, after),
            // It was sent all of it.
            None => self.close(after),
        }
    }

    /// The operation has ended. An attempt that has the reply may still be sent the rest.
    pub(super) fn abandoned(&mut self, after: &mut Deferred) {
        self.operation = None;
        if self.stage == Stage::Buffering {
            self.close(after);
        }
    }

    /// The transport releases an attempt's copy.
    pub(super) fn detach(&mut self, id: u64, after: &mut Deferred) {
        if self.reading.take_if(|reading| *reading == id).is_some() {
            // It never came back: to read the stream has panicked.
            self.end = Some(StreamEnd::Failed(Status::unknown("the stream of requests can't be read")));
        }
        if self.stage == Stage::Committed(id) {
            return self.close(after);
        }
        self.readers.retain(|reader| reader.id != id);
        self.wake_all(after);
    }

    /// Returns whether an attempt has been sent the whole stream, and there is nothing to report about its end.
    pub(super) fn is_at_end(&self, id: u64) -> bool {
        let Some(reader) = self.readers.iter().find(|reader| reader.id == id) else { return false };
        let is_last = reader.next == self.passed + self.frames.len();
        is_last
            && match &self.end {
                Some(StreamEnd::Whole(trailers)) => trailers.is_none() || reader.has_trailers,
                Some(StreamEnd::Failed(_)) => false,
                None => self.live.as_ref().is_some_and(Body::is_end_stream),
            }
    }

    /// The attempt that was sent more than is buffered, and which limit it passed. Until there is one, `waker` is kept.
    pub(super) fn watch(&mut self, waker: &Waker) -> Option<(u32, Limit)> {
        if self.over.is_none() {
            match &mut self.operation {
                Some(operation) => operation.clone_from(waker),
                none => *none = Some(waker.clone()),
            }
        }
        self.over
    }

    pub(super) fn over(&self) -> Option<(u32, Limit)> {
        self.over
    }

    /// Why the stream can't be read to its end.
    pub(super) fn error(&self) -> Option<&Status> {
        match &self.end {
            Some(StreamEnd::Failed(status)) => Some(status),
            _ => None,
        }
    }
}
