//! A subscription to numbers.

use super::server::Server;
use crate::resumption::{Processed, Resume, StreamResumption};
use crate::subscription::{NextRequest, OnEnd, Subscriber, Subscription, SubscriptionStrategy, Update};
use std::collections::VecDeque;
use std::time::Duration;
use tonic::Status;
use tonic_gax::{Code, MethodSettings, RetrySettings, RetrySettingsBuilder};

pub(super) const MS: Duration = Duration::from_millis(1);

/// Continues behind the last number, and says again what was sent. Numbers above 900 are acknowledged and skipped, those of
/// 800 and more wait for one below.
#[derive(Clone)]
pub(super) struct Numbers {
    pub(super) after: u64,
    pub(super) said: Vec<u64>,
    pub(super) acknowledge: VecDeque<u64>,
    pub(super) half_closes: bool,
    pub(super) ended: OnEnd,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            after: 0,
            said: Vec::new(),
            acknowledge: VecDeque::new(),
            half_closes: false,
            ended: OnEnd::End,
        }
    }
}

impl StreamResumption for Numbers {
    type Request = Vec<u64>;
    type Response = u64;

    fn process(&mut self, number: &mut u64) -> Processed {
        assert_ne!(*number, 666, "the strategy's own");
        if *number > 900 {
            self.acknowledge.push_back(*number);
            return Processed::Skip;
        }
        if *number >= 800 {
            return Processed::Withhold;
        }
        self.after = *number;
        Processed::Release
    }

    fn resume(&mut self, failure: &Status) -> Resume<Vec<u64>> {
        let mut opening = vec![self.after];
        opening.extend(&self.said);
        match failure.message() {
            "stop" => Resume::Stop,
            "gone" => Resume::Anew(vec![0]),
            _ => Resume::Again(opening),
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        (failure.code() == tonic::Code::OutOfRange).then_some(true)
    }
}

impl SubscriptionStrategy for Numbers {
    type Message = u64;

    fn sent(&mut self, message: &u64) {
        assert_ne!(*message, 13, "the strategy's own");
        self.said.push(*message);
    }

    fn next_request(&mut self) -> NextRequest<u64> {
        match self.acknowledge.pop_front() {
            Some(number) => NextRequest::Message(number),
            None if self.half_closes => NextRequest::HalfClose,
            None => NextRequest::Nothing,
        }
    }

    fn ended(&mut self) -> OnEnd {
        self.ended
    }
}

/// 100 ms x 2, ten seconds in all.
pub(super) fn delays() -> RetrySettingsBuilder {
    RetrySettings::builder()
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(2.0)
        .jittered(false)
        .total_timeout(10_000 * MS)
}

pub(super) fn settings() -> MethodSettings {
    MethodSettings::new(delays().build().unwrap(), [Code::Unavailable])
}

pub(super) fn open(server: &Server, subscriber: &Subscriber, strategy: Numbers) -> Subscription<Numbers> {
    let server = server.clone();
    subscriber.subscribe(vec![0], strategy, move |opening| server.connect(opening))
}

/// All that a caller got, restarts as zeros, and how it ended.
pub(super) async fn read(subscription: &mut Subscription<Numbers>) -> (Vec<u64>, Result<(), (Code, String)>) {
    let mut numbers = Vec::new();
    loop {
        match subscription.update().await {
            Ok(Some(Update::Message(number))) => numbers.push(number),
            Ok(Some(Update::Restarted)) => numbers.push(0),
            Ok(None) => return (numbers, Ok(())),
            Err(status) => {
                let code = Code::from_wire(status.code().into());
                return (numbers, Err((code, status.message().to_owned())));
            }
        }
    }
}
