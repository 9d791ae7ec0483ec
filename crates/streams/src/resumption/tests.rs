//! Strategies and what they withhold, without a stream.

use super::resumer::{FailureDecision, MessageDecision};
use super::strategy::{Processed, Resume, StreamResumption};
use super::withheld::{Full, Withheld, WithheldLimits};
use super::{Resumer, Resumption};
use bytes::Bytes;
use prost::Message;
use std::any::TypeId;
use tonic::Status;

/// Messages are withheld until one has a token; the number 7 starts again, and INTERNAL counts.
struct Tokens;

impl StreamResumption for Tokens {
    type Request = u64;
    type Response = u64;

    fn process(&mut self, message: &mut u64) -> Processed {
        match *message {
            0 => Processed::Skip,
            token if token % 10 == 0 => Processed::Release,
            1 => {
                *message = 11;
                Processed::Replaced
            }
            2 => Processed::Deliver,
            _ => Processed::Withhold,
        }
    }

    fn resume(&mut self, failure: &Status) -> Resume<u64> {
        match failure.message() {
            "anew" => Resume::Anew(7),
            "stop" => Resume::Stop,
            _ => Resume::Again(8),
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        (failure.code() == tonic::Code::Internal).then_some(true)
    }
}

fn resumer() -> Resumer<u64, u64> {
    let resumption = Resumption::new(|_: &u64| Tokens).max_withheld_messages(3);
    Resumer::new(resumption.of(&1), Some(&resumption))
}

#[test]
fn messages_wait_for_a_later_one_and_keep_their_order() {
    let mut resumer = resumer();
    assert_eq!(resumer.take(0, 1), MessageDecision::Kept);
    assert!(!resumer.has_delivered());
    assert_eq!(resumer.take(1, 1), MessageDecision::Deliver(11));
    assert!(resumer.has_delivered());
    assert_eq!(resumer.take(3, 1), MessageDecision::Kept);
    // Behind one that is withheld it waits too.
    assert_eq!(resumer.take(2, 1), MessageDecision::Kept);
    assert_eq!(resumer.released(), None);
    assert_eq!(resumer.take(20, 1), MessageDecision::Deliver(3));
    assert_eq!((resumer.released(), resumer.released(), resumer.released()), (Some(2), Some(20), None));
    assert_eq!(resumer.take(2, 1), MessageDecision::Deliver(2));
}

#[test]
fn withheld_messages_are_bounded_by_number_and_by_size() {
    let mut resumer = resumer();
    for message in [3, 4, 5] {
        assert_eq!(resumer.take(message, 1), MessageDecision::Kept);
    }
    assert_eq!(resumer.take(6, 1), MessageDecision::Full);
    // The end hands them on.
    resumer.release();
    assert_eq!([(); 4].map(|()| resumer.released()), [Some(3), Some(4), Some(5), None]);

    let mut withheld = Withheld::new(WithheldLimits { messages: 9, bytes: 10 });
    assert_eq!(withheld.take("a", 6, Processed::Withhold), Ok(None));
    assert_eq!(withheld.take("b", 5, Processed::Deliver), Err(Full));
    assert_eq!(withheld.take("c", 4, Processed::Withhold), Ok(None));
    // A release needs no room.
    assert_eq!(withheld.take("d", 100, Processed::Release), Ok(Some("a")));
    assert_eq!((withheld.pop(), withheld.pop(), withheld.pop()), (Some("c"), Some("d"), None));
    assert_eq!(withheld.take("e", 10, Processed::Withhold), Ok(None));
}

#[test]
fn a_new_beginning_takes_effect_with_the_next_attempt() {
    let mut resumer = resumer();
    assert_eq!(resumer.take(3, 1), MessageDecision::Kept);
    assert_eq!(resumer.ask(&Status::unavailable("again")), FailureDecision::Again(Some(8)));
    resumer.begin();
    assert_eq!(resumer.restarts(), 0);
    assert_eq!(resumer.ask(&Status::unavailable("anew")), FailureDecision::Again(Some(7)));
    // No attempt follows after all: what is withheld is not lost.
    let mut over = resumer;
    over.release();
    assert_eq!(over.released(), Some(3));
    assert_eq!(over.take(4, 1), MessageDecision::Kept);
    over.begin();
    assert_eq!(over.restarts(), 1);
    over.release();
    assert_eq!(over.released(), None);
    assert_eq!(over.ask(&Status::unavailable("stop")), FailureDecision::Stop);
    assert_eq!(over.is_retryable(&Status::internal("")), Some(true));
    assert_eq!(over.is_retryable(&Status::unknown("")), None);
}

#[test]
fn without_a_strategy_the_first_message_is_final() {
    let mut resumer: Resumer<u64, u64> = Resumer::new(None, None);
    assert_eq!(resumer.ask(&Status::unavailable("")), FailureDecision::Again(None));
    assert_eq!(resumer.take(3, 1), MessageDecision::Deliver(3));
    assert_eq!(resumer.ask(&Status::unavailable("")), FailureDecision::Stop);
}

#[test]
fn positions_leave_out_what_was_delivered() {
    let resumption = Resumption::by_position(|message: &u64| *message, |first: &u64, last: u64| first + last);
    let mut resumer: Resumer<u64, u64> = Resumer::new(resumption.of(&100), Some(&resumption));
    assert_eq!(resumer.ask(&Status::unavailable("")), FailureDecision::Again(Some(100)));
    assert_eq!(resumer.take(5, 1), MessageDecision::Deliver(5));
    assert_eq!(resumer.take(5, 1), MessageDecision::Kept);
    assert_eq!(resumer.take(6, 1), MessageDecision::Deliver(6));
    assert_eq!(resumer.ask(&Status::unavailable("")), FailureDecision::Again(Some(106)));
}

#[test]
fn strategies_run_over_bytes() {
    let bytes = |number: u64| Bytes::from(number.encode_to_vec());
    let resumption = Resumption::new(|_: &u64| Tokens);
    let strategy = resumption.over_bytes(&bytes(1)).unwrap();
    let mut resumer = Resumer::new(Some(strategy), Some(&resumption));
    assert_eq!(resumer.take(bytes(1), 2), MessageDecision::Deliver(bytes(11)));
    // Nobody but the client says that it can't be read.
    let garbage = Bytes::from_static(b"\xff\xff\xff");
    assert_eq!(resumer.take(garbage.clone(), 3), MessageDecision::Deliver(garbage));
    assert_eq!(resumer.take(bytes(3), 2), MessageDecision::Kept);
    assert_eq!(resumer.ask(&Status::unavailable("")), FailureDecision::Again(Some(bytes(8))));
    assert_eq!(resumer.ask(&Status::unavailable("anew")), FailureDecision::Again(Some(bytes(7))));
    assert_eq!(resumer.ask(&Status::unavailable("stop")), FailureDecision::Stop);
    assert!(resumption.over_bytes(&Bytes::from_static(b"\xff")).is_none());
}

/// Skipped messages, however many: so that a server which sends nothing else keeps no task from its turn.
#[test]
fn other_tasks_have_their_turn_after_32_messages_that_nobody_gets() {
    let mut resumer = resumer();
    let mut turns = |count: usize| {
        let taken = (0..count).map(|_| resumer.take(0, 1));
        taken
            .enumerate()
            .filter(|(_, taken)| *taken == MessageDecision::KeptForLong)
            .map(|(at, _)| at)
            .collect()
    };
    let at: Vec<usize> = turns(100);
    assert_eq!(at, [31, 63, 95]);
    // A message for the caller is a turn.
    assert_eq!(resumer.take(2, 1), MessageDecision::Deliver(2));
    let kept: Vec<_> = (0..31).map(|_| resumer.take(0, 1)).collect();
    assert!(kept.iter().all(|taken| *taken == MessageDecision::Kept));
    assert_eq!(resumer.take(0, 1), MessageDecision::KeptForLong);
}

#[test]
fn it_is_for_messages_of_its_own_types() {
    let resumption = Resumption::new(|_: &u64| Tokens);
    assert!(resumption.is_for([TypeId::of::<u64>(), TypeId::of::<u64>()]));
    assert!(!resumption.is_for([TypeId::of::<u64>(), TypeId::of::<u32>()]));
    assert!(resumption.of::<u64, u32>(&1).is_none());
    assert_eq!(resumption.clone(), resumption);
    assert_ne!(resumption.clone().without_total_timeout(), resumption);
    let text = "Resumption { request: \"u64\", response: \"u64\", .. }";
    assert_eq!(format!("{resumption:?}"), text);
}
