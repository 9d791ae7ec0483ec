//! A call as its caller sees it: one operation, polled by whichever half of the call is awaited.

use crate::call::RetriedCall;
use crate::failure::{at_end, trailers};
use crate::protocol::{Call, Part};
use crate::request::encoded;
use bytes::Bytes;
use gax_driver::__private::Locked;
use gax_driver::protocol::{Driver, Output, Stop, Verdict};
use gax_retry::Code;
use gax_wire::note;
use grpc::StatusCodeError;
use grpc::client::{Invoke, ResponseStreamItem, SendOptions};
use grpc::core::{RecvMessage, SendMessage, Trailers};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A call, shared by its two halves.
pub(crate) struct Operation<I: Invoke + Clone + 'static> {
    state: Locked<State<I>>,
    wakers: Arc<Wakers>,
}

/// Makes the operation, once it is known whether its request is a stream.
pub(crate) type Begin<I> = Box<dyn FnOnce(bool) -> Driver<Call<I>> + Send>;

struct State<I: Invoke + Clone + 'static> {
    stage: Stage<I>,
    /// The message that the caller has not taken yet.
    slot: Option<Part>,
    /// The other parts of the response, which the caller takes before that message.
    ready: VecDeque<Item>,
    /// `true` if the caller sends no more.
    has_ended: bool,
    /// How many messages some attempt has sent, and whether no more are accepted.
    sent: (u64, bool),
    /// The place where the caller looks for the report.
    own: Option<RetriedCall>,
}

enum Stage<I: Invoke + Clone + 'static> {
    Unbegun(Begin<I>),
    Running(Pin<Box<Driver<Call<I>>>>),
    /// The response is complete, and the caller has not read its end yet.
    Replied(Pin<Box<Driver<Call<I>>>>),
    Over,
}

/// A part of a response that the caller reads.
enum Item {
    Whole(ResponseStreamItem),
    Message(Bytes),
}

/// One of the two halves of a call.
#[derive(Clone, Copy)]
enum Half {
    Sending,
    Receiving,
}

/// The tasks that wait for the halves.
#[derive(Default)]
struct Wakers(Locked<[Option<Waker>; 2]>);

impl Wakers {
    /// Registers the task that waits for a half. The waker that it returns wakes the tasks of both halves.
    fn wait(self: &Arc<Self>, half: Half, cx: &Context<'_>) -> Waker {
        let [sending, receiving] = &mut *self.0.lock();
        let place = match half {
            Half::Sending => sending,
            Half::Receiving => receiving,
        };
        *place = Some(cx.waker().clone());
        Waker::from(Arc::clone(self))
    }

    /// Wakes the task that waits for the other half.
    fn wake_other(&self, half: Half) {
        let [sending, receiving] = &mut *self.0.lock();
        let other = match half {
            Half::Sending => receiving.take(),
            Half::Receiving => sending.take(),
        };
        if let Some(other) = other {
            other.wake();
        }
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *self.0.lock());
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

impl<I: Invoke + Clone + 'static> Operation<I> {
    pub(crate) fn new(begin: Begin<I>, own: Option<RetriedCall>) -> Self {
        let state = State {
            stage: Stage::Unbegun(begin),
            slot: None,
            ready: VecDeque::new(),
            has_ended: false,
            sent: (0, false),
            own,
        };
        Self { state: Locked::new(state), wakers: Arc::default() }
    }

    /// Sends a message: waits until an attempt has sent it.
    pub(crate) async fn send(&self, message: &dyn SendMessage, options: SendOptions) -> Result<(), ()> {
        let place = self.state.lock().push(message, options).ok_or(())?;
        poll_fn(|cx| {
            let mut state = self.state.lock();
            if state.poll(&self.wakers, Half::Sending, cx) {
                self.wakers.wake_other(Half::Sending);
            }
            state.has_sent(place)
        })
        .await
    }

    /// Ends the request.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.has_ended = true;
        if let Stage::Running(driver) = &mut state.stage {
            driver.as_mut().protocol().request.end();
        }
        drop(state);
        self.wakers.wake_other(Half::Sending);
    }

    /// The next part of the response.
    pub(crate) async fn receive(&self, message: &mut dyn RecvMessage) -> ResponseStreamItem {
        loop {
            let item = poll_fn(|cx| {
                let mut state = self.state.lock();
                state.begin(true);
                loop {
                    if let Some(item) = state.take() {
                        return Poll::Ready(item);
                    }
                    if !state.poll(&self.wakers, Half::Receiving, cx) {
                        return Poll::Pending;
                    }
                    self.wakers.wake_other(Half::Receiving);
                }
            });
            let mut data = match item.await {
                Item::Whole(item) => return item,
                Item::Message(data) => data,
            };
            let Err(error) = message.decode(&mut data) else { return ResponseStreamItem::Message };
            let status =
                trailers(StatusCodeError::Internal, format!("the response can't be decoded: {error}"));
            self.state.lock().unreadable(status);
        }
    }

    /// Cancels the call: attempts in flight are dropped.
    pub(crate) fn cancel(&self) {
        let mut state = self.state.lock();
        state.read();
        let cancelled = std::mem::replace(&mut state.stage, Stage::Over);
        drop(state);
        drop(cancelled);
        self.wakers.wake_other(Half::Receiving);
    }
}

impl<I: Invoke + Clone + 'static> State<I> {
    /// Begins the operation, unless it has begun.
    fn begin(&mut self, is_stream: bool) {
        if matches!(self.stage, Stage::Unbegun(_))
            && let Stage::Unbegun(begin) = std::mem::replace(&mut self.stage, Stage::Over)
        {
            let mut driver = Box::pin(begin(is_stream));
            if self.has_ended {
                driver.as_mut().protocol().request.end();
            }
            self.stage = Stage::Running(driver);
        }
    }

    /// Adds the caller's next message to the request. Returns its place; `None`: no more are accepted.
    fn push(&mut self, message: &dyn SendMessage, options: SendOptions) -> Option<u64> {
        if self.has_ended {
            return None;
        }
        self.has_ended = options.final_msg;
        self.begin(!options.final_msg);
        let Stage::Running(driver) = &mut self.stage else { return None };
        Some(driver.as_mut().protocol().request.push(encoded(message), options))
    }

    /// Returns whether the message at that place was sent; an error if it never will be.
    fn has_sent(&self, place: u64) -> Poll<Result<(), ()>> {
        match self.sent {
            (sent, _) if sent > place => Poll::Ready(Ok(())),
            (_, false) if matches!(self.stage, Stage::Running(_)) => Poll::Pending,
            _ => Poll::Ready(Err(())),
        }
    }

    /// Polls the operation. Returns whether anything has changed for the caller.
    fn poll(&mut self, wakers: &Arc<Wakers>, half: Half, cx: &Context<'_>) -> bool {
        let Stage::Running(driver) = &mut self.stage else {
            // The caller has read the whole response.
            return matches!(half, Half::Receiving) && self.end();
        };
        let waker = wakers.wait(half, cx);
        let output = driver.as_mut().poll(&mut Context::from_waker(&waker), &mut self.slot);
        let call = driver.as_mut().protocol();
        let headers = call.response_headers.take();
        let before = std::mem::replace(&mut self.sent, call.request.progress());
        let has_changed = headers.is_some() || output.is_ready() || self.sent != before;
        self.ready.extend(headers.map(|headers| Item::Whole(ResponseStreamItem::Headers(headers))));
        match output {
            Poll::Pending | Poll::Ready(Output::Item) => {}
            Poll::Ready(Output::Reply) => {
                if let Some(Part::End(message, trailers)) = self.slot.take() {
                    self.ready.extend(message.map(Item::Message));
                    self.ready.push_back(Item::Whole(ResponseStreamItem::Trailers(trailers)));
                }
                if let Stage::Running(driver) = std::mem::replace(&mut self.stage, Stage::Over) {
                    self.stage = Stage::Replied(driver);
                }
            }
            Poll::Ready(Output::Failed(stop)) => self.fail(stop),
        }
        has_changed
    }

    /// Ends the stream that the caller reads.
    fn end(&mut self) -> bool {
        self.ready.push_back(Item::Whole(ResponseStreamItem::StreamClosed));
        true
    }

    /// Ends an operation that has failed: the caller reads its last response, and its status.
    fn fail(&mut self, stop: Stop) {
        let Stage::Running(mut driver) = std::mem::replace(&mut self.stage, Stage::Over) else { return };
        if let Some(Part::Message(message)) = self.slot.take() {
            self.ready.push_back(Item::Message(message));
        }
        let mut failure = driver.as_mut().protocol().failure.take();
        if let Some(failure) = &mut failure {
            let headers = failure.headers.take();
            self.ready.extend(headers.map(|headers| Item::Whole(ResponseStreamItem::Headers(headers))));
            if let Some(message) = failure.message.take() {
                driver.as_mut().note(note::FAILED_BEHIND_MESSAGES);
                self.ready.push_back(Item::Message(message));
            }
        }
        let report = driver.as_mut().failed(stop);
        let trailers = at_end(failure, (**driver.config()).as_ref(), stop, &report);
        self.ready.push_back(Item::Whole(ResponseStreamItem::Trailers(trailers)));
        if let Some(own) = &self.own {
            own.reported(Some(report));
        }
    }

    /// The next part for the caller, if it is there.
    fn take(&mut self) -> Option<Item> {
        let item = self.ready.pop_front().or_else(|| {
            match self.slot.take_if(|part| matches!(part, Part::Message(_)))? {
                Part::Message(message) => Some(Item::Message(message)),
                Part::End(..) => None,
            }
        });
        if let Some(Item::Whole(ResponseStreamItem::Trailers(_))) = item {
            self.read();
        }
        item
    }

    /// Ends an operation whose reply the caller has read, as far as it wants to.
    fn read(&mut self) {
        if let Stage::Replied(driver) = &mut self.stage {
            let report = driver.as_mut().close();
            self.stage = Stage::Over;
            if let Some(own) = &self.own {
                own.reported(report);
            }
        }
    }

    /// Ends the call with that status, since the message that the caller has taken can't be decoded.
    fn unreadable(&mut self, status: Trailers) {
        if let Stage::Running(driver) = &mut self.stage {
            driver.as_mut().protocol().unreadable = Some(status);
            return;
        }
        self.ready.clear();
        self.ready.push_back(Item::Whole(ResponseStreamItem::Trailers(status)));
        if let Stage::Replied(mut driver) = std::mem::replace(&mut self.stage, Stage::Over) {
            let report = driver.as_mut().finish(Verdict::Unreadable(Code::Internal));
            if let Some(own) = &self.own {
                own.reported(Some(report));
            }
        }
    }
}
