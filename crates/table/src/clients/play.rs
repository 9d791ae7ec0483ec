//! The attempts that a client makes of calls to a server that answers by a script.

use super::decode::whole;
use super::fields::Reader;
use super::policy::Policy;
use super::report::Verdict;
use super::script::{Reply, Script};
use std::time::Duration;

/// A wait in which every caller gives up.
const FOREVER: i128 = 86_400_000_000_000;

/// The outcome of a played script.
#[derive(Debug, Default)]
pub(super) struct Play {
    pub(super) attempts: Vec<u32>,
    pub(super) delays: Vec<Duration>,
    pub(super) change: Option<(Verdict, String)>,
}

impl Policy {
    /// The wait before a retry; the first has the number 0.
    fn wait(&self, number: u32) -> i128 {
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
        let mut play = Play::default();
        let most = policy.map_or(1, |policy| policy.attempts);
        if let Some(policy) = policy {
            let waits = (0..most.saturating_sub(1))
                .map(|number| u64::try_from(policy.wait(number)).unwrap_or(u64::MAX));
            play.delays = waits.take(100).map(Duration::from_nanos).collect();
        }
        let none = is_refused || timeout == Some(0);
        let Some(script) = script else {
            play.attempts = vec![if none { 0 } else { most }];
            return play;
        };
        let mut tokens = self.throttle.map(|(most, _)| most);
        let mut has_listed = policy.is_none() || is_refused;
        let mut unlisted = None;
        for replies in &script.calls {
            if none {
                play.attempts.push(0);
                continue;
            }
            let (mut attempts, mut elapsed, mut retries, mut is_transparent) = (0, 0, 0, true);
            for number in 0.. {
                attempts += 1;
                let reply = replies.get(number).copied().unwrap_or(Reply::Hang);
                let code = reply.code(self.client);
                let listed =
                    policy.is_some_and(|policy| code.is_some_and(|code| policy.codes.contains(&code)));
                let free =
                    is_transparent && reply == Reply::Reset(7) && self.is("refused-stream", "free once");
                is_transparent = false;
                if free {
                    continue;
                }
                let pushback = match reply {
                    Reply::Status(_, pushback) => pushback,
                    _ => None,
                };
                let is_final = match reply {
                    Reply::Ok | Reply::Headers(_) => true,
                    Reply::Hang => {
                        !policy.is_some_and(|policy| policy.is_hedging || policy.per_attempt.is_some())
                    }
                    Reply::Status(0, _) => !(listed && self.is("code.ok-reply", "retried")),
                    _ => !(listed || pushback.is_some() && self.is("pushback.unlisted-code", "retry")),
                };
                has_listed |= !is_final;
                if let (true, Some(code)) = (is_final, code) {
                    unlisted = unlisted.or(Some(code));
                }
                if let (Reply::Ok, Some((most, ratio)), Some(tokens)) =
                    (reply, self.throttle, tokens.as_mut())
                {
                    *tokens = (*tokens + ratio).min(most);
                }
                let Some(policy) = policy.filter(|_| !is_final) else { break };
                if let (true, Some((most, _)), Some(tokens)) = (listed, self.throttle, tokens.as_mut()) {
                    *tokens = (*tokens - 1.0).max(0.0);
                    if *tokens <= most / 2.0 && !policy.is_hedging {
                        break;
                    }
                }
                if retries + 1 >= policy.attempts || pushback.is_some_and(|millis| millis < 0) {
                    break;
                }
                elapsed += match pushback {
                    Some(millis) => i128::from(millis) * 1_000_000,
                    None if policy.is_hedging && listed => 0,
                    None => {
                        policy.wait(retries)
                            + if reply == Reply::Hang { policy.per_attempt.unwrap_or(0) } else { 0 }
                    }
                };
                if elapsed >= timeout.unwrap_or(FOREVER) {
                    break;
                }
                retries += 1;
            }
            if attempts > 1 && replies.first() == Some(&Reply::Status(0, None)) {
                play.change =
                    Some((Verdict::Changed, "a reply of OK without a message is retried".to_owned()));
            }
            play.attempts.push(attempts);
        }
        if let (false, Some(code)) = (has_listed, unlisted) {
            play.change =
                Some((Verdict::NoRetries, format!("{} is not a code that the entry retries", code.name())));
        }
        play
    }
}
