//! The attempts that a client makes of calls to a server that answers by a script.

use super::decode::whole;
use super::fields::Reader;
use super::policy::Policy;
use super::report::Verdict;
use super::script::{Reply, Script};
use std::iter::repeat;
use std::time::Duration;

/// A wait in which every caller gives up.
const FOREVER: i128 = 86_400_000_000_000;
/// Tokens that never run out, and what a success gives back of them.
const UNTHROTTLED: (f64, f64) = (f64::MAX, 0.0);

/// The outcome of a played script.
#[derive(Debug)]
pub(super) struct Play {
    pub(super) attempts: Vec<u32>,
    pub(super) delays: Vec<Duration>,
    pub(super) change: Option<(Verdict, String)>,
}

impl Policy {
    /// The wait before a retry; the first has the number 0.
    pub(super) fn wait(&self, number: u32) -> i128 {
        if number == 0 {
            return self.first;
        }
        let initial =
            u64::try_from(self.initial).map_or(f64::MAX, |nanos| Duration::from_nanos(nanos).as_secs_f64());
        let grown = initial * self.multiplier.powi(i32::try_from(number).unwrap_or(i32::MAX));
        whole(grown * 1e9).min(self.max)
    }
}

impl Reader<'_> {
    /// The attempts of each call of a script; without one, the most that a call has.
    pub(super) fn play(
        &self,
        policy: Option<&Policy>,
        timeout: Option<i128>,
        script: Option<&Script>,
        is_refused: bool,
    ) -> Play {
        let none = Policy::default();
        let asked = policy.unwrap_or(&none);
        let waits = (1..asked.attempts).map(|number| asked.wait(number - 1)).take(100);
        let delays = waits.map(|nanos| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
        let limit = timeout.unwrap_or(FOREVER);
        let (mut tokens, _) = self.throttle.unwrap_or(UNTHROTTLED);
        let calls = script.map(|script| &*script.calls);
        let attempts = match calls {
            _ if is_refused || timeout == Some(0) => vec![0; calls.map_or(1, <[_]>::len)],
            None => vec![asked.attempts.max(1)],
            Some(calls) => {
                calls.iter().map(|replies| self.call(asked, limit, replies, &mut tokens)).collect()
            }
        };
        let firsts = calls.into_iter().flatten().filter_map(|replies| replies.get(self.free(replies)));
        let (retried, last): (Vec<Reply>, Vec<Reply>) =
            firsts.copied().partition(|reply| self.next(asked, 0, *reply).is_some());
        // Headers end a call whose code the entry lists, as is written.
        let is_as_written = |reply: &Reply| matches!(reply, Reply::Headers(_)) && self.lists(asked, *reply);
        let mut last = last.iter().filter(|reply| !is_as_written(reply));
        let change = match last.find_map(|reply| reply.code(self.client)) {
            _ if retried.contains(&Reply::Status(0, None)) => {
                Some((Verdict::Changed, "a reply of OK without a message is retried".to_owned()))
            }
            Some(code) if policy.is_some() && retried.is_empty() => {
                Some((Verdict::NoRetries, format!("{} is not a code that the entry retries", code.name())))
            }
            _ => None,
        };
        Play { attempts, delays: delays.collect(), change }
    }

    /// The number of attempts of one call. The tokens are those that the calls before it have left.
    fn call(&self, policy: &Policy, limit: i128, replies: &[Reply], tokens: &mut f64) -> u32 {
        let (most, ratio) = self.throttle.unwrap_or(UNTHROTTLED);
        let free = self.free(replies);
        let (mut attempts, mut elapsed) = (u32::from(free > 0), 0);
        let replies = replies.iter().copied().skip(free).chain(repeat(Reply::Hang));
        for (number, reply) in (0..).zip(replies) {
            attempts += 1;
            if reply == Reply::Ok {
                *tokens = (*tokens + ratio).min(most);
            }
            let Some(wait) = self.next(policy, number, reply) else { break };
            let is_listed = self.lists(policy, reply);
            if is_listed {
                *tokens = (*tokens - 1.0).max(0.0);
            }
            elapsed = wait.saturating_add(elapsed);
            let is_throttled = is_listed && !policy.is_hedging && *tokens <= most / 2.0;
            if is_throttled || number + 1 >= policy.attempts || elapsed >= limit {
                break;
            }
        }
        attempts
    }

    /// How many replies at the start are followed by an attempt that doesn't count: the server hasn't seen the request.
    fn free(&self, replies: &[Reply]) -> usize {
        let is_refused = replies.first() == Some(&Reply::Reset(7));
        usize::from(is_refused && self.is("refused-stream", "free once"))
    }

    fn lists(&self, policy: &Policy, reply: Reply) -> bool {
        reply.code(self.client).is_some_and(|code| policy.codes.contains(&code))
    }

    /// The wait between a reply to an attempt and the next attempt, if the reply allows one.
    fn next(&self, policy: &Policy, number: u32, reply: Reply) -> Option<i128> {
        let is_listed = self.lists(policy, reply);
        let is_retried = match reply {
            Reply::Ok | Reply::Headers(_) => false,
            Reply::Hang => policy.is_hedging || policy.per_attempt.is_some(),
            Reply::Status(0, _) => is_listed && self.is("code.ok-reply", "retried"),
            Reply::Status(_, Some(_)) => is_listed || self.is("pushback.unlisted-code", "retry"),
            _ => is_listed,
        };
        let wait = match reply {
            // A negative one forbids further attempts.
            Reply::Status(_, Some(millis)) if millis < 0 => i128::MAX,
            Reply::Status(_, Some(millis)) => i128::from(millis) * 1_000_000,
            Reply::Hang => policy.wait(number) + policy.per_attempt.unwrap_or(0),
            _ if policy.is_hedging => 0,
            _ => policy.wait(number),
        };
        is_retried.then_some(wait)
    }
}
