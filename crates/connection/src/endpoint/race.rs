//! The race for a connection to one of several addresses (RFC 8305, gRFC A61).

use crate::resolver::Address;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// After how much time the next address is tried while the previous one is.
const STAGGER: Duration = Duration::from_millis(250);
/// How many are tried at a time.
const MAX_RUNNING: usize = 3;

/// Which addresses are tried, and when: the next one after a moment, or as soon as one has failed.
#[derive(Debug)]
pub(super) struct Race {
    waiting: VecDeque<Address>,
    running: Vec<Address>,
    failed: Vec<Address>,
    /// Until then the next address waits for those that run.
    next: Instant,
    /// How long one may take, so that all have their turn.
    share: Duration,
}

impl Race {
    /// A race between these addresses that takes so long at most.
    pub(super) fn new(addresses: VecDeque<Address>, time: Duration, now: Instant) -> Self {
        let rounds = u32::try_from(addresses.len().div_ceil(MAX_RUNNING)).unwrap_or(u32::MAX);
        let share = time / rounds.max(1);
        Self { waiting: addresses, running: Vec::new(), failed: Vec::new(), next: now, share }
    }

    /// An address to be tried now, and for how long.
    pub(super) fn start(&mut self, now: Instant) -> Option<(Address, Duration)> {
        let is_due = self.running.is_empty() || (now >= self.next && self.running.len() < MAX_RUNNING);
        let address = if is_due { self.waiting.pop_front()? } else { return None };
        self.next = now.checked_add(STAGGER).unwrap_or(now);
        self.running.push(address.clone());
        Some((address, self.share))
    }

    /// When the next one is to be tried, unless one fails before.
    pub(super) fn next(&self) -> Option<Instant> {
        (!self.waiting.is_empty() && self.running.len() < MAX_RUNNING).then_some(self.next)
    }

    pub(super) fn fail(&mut self, address: Address, now: Instant) {
        self.running.retain(|running| *running != address);
        self.failed.push(address);
        self.next = now;
    }

    /// These are the addresses from now on: new ones join, and those that are gone leave.
    pub(super) fn follow(&mut self, addresses: VecDeque<Address>, now: Instant) {
        self.running.retain(|address| addresses.contains(address));
        let before = std::mem::replace(&mut self.waiting, addresses);
        self.waiting.retain(|address| !self.running.contains(address) && !self.failed.contains(address));
        if self.waiting.iter().any(|address| !before.contains(address)) {
            self.next = now;
        }
    }

    pub(super) fn is_running(&self, address: &Address) -> bool {
        self.running.contains(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_driver::__private::Clock;

    fn addresses(ports: &[u16]) -> VecDeque<Address> {
        ports.iter().map(|port| Address::Tcp(([127, 0, 0, 1], *port).into())).collect()
    }

    /// The ports that are tried now.
    fn started(race: &mut Race, now: Instant) -> Vec<u16> {
        let ports = std::iter::from_fn(|| race.start(now)).map(|(address, _)| match address {
            Address::Tcp(address) => address.port(),
            Address::Unix(_) => 0,
        });
        ports.collect()
    }

    #[test]
    fn three_are_tried_at_a_time_each_a_moment_later_or_after_a_failure() {
        let now = Clock::start().now().0;
        let mut race = Race::new(addresses(&[1, 2, 3, 4, 5]), Duration::from_secs(20), now);
        assert_eq!(started(&mut race, now), [1]);
        assert_eq!(race.next(), Some(now + STAGGER));
        assert_eq!(started(&mut race, now + STAGGER), [2]);
        race.fail(addresses(&[1])[0].clone(), now + STAGGER);
        assert_eq!(
            addresses(&[1, 2]).iter().map(|one| race.is_running(one)).collect::<Vec<_>>(),
            [false, true]
        );
        assert_eq!(started(&mut race, now + STAGGER), [3]);
        assert_eq!(started(&mut race, now + 2 * STAGGER), [4]);
        assert_eq!((started(&mut race, now + 9 * STAGGER), race.next()), (Vec::new(), None));
    }

    #[test]
    fn each_has_an_equal_share_of_the_time() {
        let now = Clock::start().now().0;
        for (number, share) in [(1, 20_000), (3, 20_000), (4, 10_000), (1000, 59)] {
            let mut race =
                Race::new(addresses(&(0..number).collect::<Vec<_>>()), Duration::from_secs(20), now);
            assert_eq!(race.start(now).unwrap().1.as_millis(), share);
        }
    }

    #[test]
    fn new_addresses_join_and_removed_ones_leave() {
        let now = Clock::start().now().0;
        let mut race = Race::new(addresses(&[1, 2]), Duration::from_secs(20), now);
        assert_eq!(started(&mut race, now), [1]);
        race.follow(addresses(&[1, 2]), now);
        assert_eq!(started(&mut race, now), [0_u16; 0]);
        race.follow(addresses(&[3, 1]), now);
        assert_eq!(started(&mut race, now), [3]);
        race.follow(addresses(&[3]), now);
        assert!(!race.is_running(&addresses(&[1])[0]));
        assert_eq!(started(&mut race, now), [0_u16; 0]);
    }
}
