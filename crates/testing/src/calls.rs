//! Which requests are attempts of one call.

/// The most calls that are looked back on.
const RECENT: usize = 1000;

/// The calls of a server's clients.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    path: String,
    requests: usize,
    /// How many attempts the client says that it has made.
    attempts: usize,
    /// The last request may come again, as if it had never been sent.
    is_unprocessed: bool,
    is_over: bool,
}

impl Calls {
    /// A request has come, with so many attempts before it, if it says so; returns the number of its call, and that of the
    /// request in it, both from 0.
    pub(super) fn arrive(&mut self, path: &str, previous: Option<usize>) -> (usize, usize) {
        let recent = self.calls.iter_mut().enumerate().rev().take(RECENT);
        let mut of_path = recent.filter(|(_, call)| !call.is_over && call.path == path);
        let known = match previous {
            None => of_path.find(|(_, call)| call.attempts == 1 && call.is_unprocessed),
            // The one that has waited longest, unless one waits for just that.
            Some(previous) => {
                let mut all: Vec<_> =
                    of_path.filter(|(_, call)| call.attempts <= previous || call.is_unprocessed).collect();
                let index =
                    all.iter().rposition(|(_, call)| call.attempts == previous).or(all.len().checked_sub(1));
                index.map(|index| all.swap_remove(index))
            }
        };
        let attempts = previous.unwrap_or_default().saturating_add(1);
        if let Some((number, call)) = known {
            call.requests += 1;
            call.attempts = attempts;
            call.is_unprocessed = false;
            return (number, call.requests - 1);
        }
        let path = path.to_owned();
        self.calls.push(Call { path, requests: 1, attempts, is_unprocessed: false, is_over: false });
        (self.calls.len() - 1, 0)
    }

    /// A request of that call has been replied to.
    pub(super) fn replied(&mut self, call: usize, is_good: bool, is_unprocessed: bool) {
        if let Some(call) = self.calls.get_mut(call) {
            call.is_over |= is_good;
            call.is_unprocessed = is_unprocessed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_follow_their_call() {
        let mut calls = Calls::default();
        assert_eq!(calls.arrive("/a", None), (0, 0));
        calls.replied(0, false, false);
        // Another call, since a retry would say so.
        assert_eq!(calls.arrive("/a", None), (1, 0));
        assert_eq!(calls.arrive("/b", Some(1)), (2, 0));
        assert_eq!(calls.arrive("/a", Some(1)), (0, 1));
        assert_eq!(calls.arrive("/a", Some(1)), (1, 1));
        assert_eq!(calls.arrive("/a", Some(2)), (0, 2));
        calls.replied(0, true, false);
        assert_eq!(calls.arrive("/a", Some(3)), (1, 2));
        assert_eq!(calls.arrive("/a", Some(9)), (1, 3));
        calls.replied(1, true, false);
        assert_eq!(calls.arrive("/a", Some(usize::MAX)), (3, 0));
    }

    #[test]
    fn a_request_that_was_not_looked_at_comes_again() {
        let mut calls = Calls::default();
        calls.arrive("/a", None);
        calls.replied(0, false, true);
        assert_eq!(calls.arrive("/a", None), (0, 1));
        calls.replied(0, false, false);
        assert_eq!(calls.arrive("/a", Some(1)), (0, 2));
        calls.replied(0, false, true);
        assert_eq!(calls.arrive("/a", Some(1)), (0, 3));
        assert_eq!(calls.arrive("/a", None), (1, 0));
    }
}
