//! The next request of an upload, and what follows from a response: data in, decision out.

/// The purpose of a request of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// All of it, in one request without a session.
    Single,
    /// Whether the object is there, since one request that was lost may have made it.
    Look,
    /// A session.
    Start,
    /// How much the server has.
    Query,
    /// The bytes from one place up to another. With the last of them the total is known.
    Send { from: u64, to: u64, total: Option<u64> },
}

/// The next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    Single,
    Look,
    Start,
    Query,
    /// Some or all of the bytes from there on.
    Send {
        from: u64,
    },
}

/// A response, as its protocol has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// There is a session.
    Started,
    /// The server has that many bytes from the beginning on, and wants more.
    Persisted(u64),
    /// The object is made.
    Finished,
    /// There is no such session, or not any more.
    Gone,
    /// The session was cancelled.
    Cancelled,
    /// A precondition does not hold.
    Conflict,
    /// It failed, and whether it is retried is the layer's to say.
    Failed,
    /// It failed, and the session goes on.
    Recoverable,
    /// It failed for good.
    Refused,
    /// It breaks the rules of the protocol.
    Malformed(&'static str),
}

/// The consequence of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The upload is whole.
    Done,
    /// The object is made before its last byte was sent: by another process, if it has the source's checksum.
    Early,
    /// There is more to do, and nothing went wrong.
    NotDone { progress: bool },
    /// Of what was sent the server has nothing. That is no progress, but a failure to be retried.
    NothingPersisted,
    /// The session is gone, and another one can be started.
    Anew,
    /// The session is gone, or has lost bytes, and the source can't go back there.
    NoWayBack,
    /// The session was cancelled.
    Cancelled,
    /// It failed, and whether it is retried is the layer's to say.
    Failed,
    /// It failed, and is retried.
    Recoverable,
    /// It failed for good.
    Refused,
    /// The response breaks the rules of the protocol.
    Malformed(&'static str),
}

/// Whether one request is enough, and how far that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Single {
    /// There is a session.
    No,
    /// It is to be sent.
    Yes,
    /// It was lost, and may have made the object.
    Lost,
    /// There is an object, which it may have made.
    Conflict,
}

/// How far an upload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    single: Single,
    /// Whether it is known how a session is started.
    can_start: bool,
    has_session: bool,
    /// How many bytes the server has, if that is known.
    at: Option<u64>,
    /// The most that it has ever had.
    best: u64,
    /// The place behind the last byte that was ever sent; `None`: another process may have sent some.
    sent: Option<u64>,
    /// Whether something went wrong since bytes were sent last.
    is_interrupted: bool,
    pub(super) resumptions: u32,
}

impl Plan {
    /// An upload that begins.
    pub(super) fn new(is_single: bool) -> Self {
        Self {
            single: if is_single { Single::Yes } else { Single::No },
            can_start: true,
            has_session: false,
            at: None,
            best: 0,
            sent: Some(0),
            is_interrupted: false,
            resumptions: 0,
        }
    }

    /// An upload that goes on by a session of another process. `can_start`: if it is gone, another one can be started.
    pub(super) fn resumed(can_start: bool) -> Self {
        Self { can_start, has_session: true, sent: None, is_interrupted: true, ..Self::new(false) }
    }

    pub(super) fn next(&self) -> Ask {
        match (self.single, self.at) {
            (Single::Yes | Single::Lost, _) => Ask::Single,
            (Single::Conflict, _) => Ask::Look,
            (Single::No, _) if !self.has_session => Ask::Start,
            (Single::No, None) => Ask::Query,
            (Single::No, Some(from)) => Ask::Send { from },
        }
    }

    /// Bytes are about to be sent.
    pub(super) fn sends(&mut self) {
        if std::mem::take(&mut self.is_interrupted) {
            self.resumptions = self.resumptions.saturating_add(1);
        }
    }

    /// The server may have the bytes up to that place.
    fn sent(&mut self, step: Option<Step>) {
        if let Some(Step::Send { to, .. }) = step {
            self.sent = self.sent.map(|sent| sent.max(to));
        }
    }

    /// The bytes that the server has, as far as it has said so.
    pub(super) fn persisted(&self) -> u64 {
        self.at.unwrap_or(self.best)
    }

    /// A request has no response: the server may have any part of it.
    pub(super) fn lost(&mut self, step: Option<Step>) {
        self.sent(step);
        self.at = None;
        if step == Some(Step::Single) {
            self.single = Single::Lost;
        }
        if let Some(Step::Send { .. } | Step::Single) = step {
            self.is_interrupted = true;
        }
    }

    /// A request has that response. `lowest` is the first byte that the source can still send, `size` the number of all.
    pub(super) fn replied(&mut self, step: Step, reply: Reply, size: Option<u64>, lowest: u64) -> Decision {
        self.sent(Some(step));
        match (step, reply) {
            (Step::Start, Reply::Started) => {
                self.has_session = true;
                self.at = Some(0);
                // To start sessions again and again is no progress.
                Decision::NotDone { progress: false }
            }
            (Step::Single | Step::Query | Step::Look, Reply::Finished) => self.done(size),
            (Step::Single, Reply::Conflict) if self.single == Single::Lost => {
                self.single = Single::Conflict;
                Decision::NotDone { progress: false }
            }
            (Step::Send { to, total, .. }, Reply::Finished) => {
                if total == Some(to) {
                    self.done(total)
                } else {
                    Decision::Early
                }
            }
            (Step::Query | Step::Send { .. }, Reply::Persisted(bytes)) => {
                self.persisted_at(step, bytes, size, lowest)
            }
            (Step::Query | Step::Send { .. }, Reply::Gone) => {
                self.lost(Some(step));
                if !self.can_start {
                    return Decision::Refused;
                }
                if lowest > 0 {
                    return Decision::NoWayBack;
                }
                (self.has_session, self.sent) = (false, Some(0));
                Decision::Anew
            }
            (_, Reply::Cancelled) => Decision::Cancelled,
            (_, Reply::Failed | Reply::Gone | Reply::Conflict) => {
                self.lost(Some(step));
                Decision::Failed
            }
            (_, Reply::Recoverable) => {
                self.lost(Some(step));
                Decision::Recoverable
            }
            (_, Reply::Refused) => Decision::Refused,
            (_, Reply::Malformed(problem)) => Decision::Malformed(problem),
            (Step::Single | Step::Look | Step::Start, Reply::Persisted(_)) => {
                Decision::Malformed("the server wants more of an upload that has no session")
            }
            (Step::Start, Reply::Finished) => Decision::Malformed("the server did not name a session"),
            (_, Reply::Started) => Decision::Malformed("the server started a session that nobody asked for"),
        }
    }

    /// The server has all of it.
    pub(super) fn done(&mut self, size: Option<u64>) -> Decision {
        self.best = size.unwrap_or(self.best);
        self.at = Some(self.best);
        Decision::Done
    }

    fn persisted_at(&mut self, step: Step, bytes: u64, size: Option<u64>, lowest: u64) -> Decision {
        let most = match (size, self.sent) {
            (Some(size), Some(sent)) => Some(size.min(sent)),
            (size, sent) => size.or(sent),
        };
        if most.is_some_and(|most| bytes > most) {
            return Decision::Malformed("the server claims to have more bytes than it was sent");
        }
        self.at = Some(bytes);
        let progress = bytes > self.best;
        self.best = self.best.max(bytes);
        if bytes < lowest {
            return Decision::NoWayBack;
        }
        match step {
            Step::Send { from, .. } if bytes <= from => {
                self.is_interrupted = true;
                Decision::NothingPersisted
            }
            _ => Decision::NotDone { progress },
        }
    }
}

/// How far one request goes that begins there, where the size is known. `chunk`: the most that it sends. `last_is_apart`: the last
/// piece is a request of its own, since checksums go with it that are not known before.
pub(super) fn extent(from: u64, size: u64, granularity: u64, chunk: Option<u64>, last_is_apart: bool) -> u64 {
    let end = chunk.map_or(size, |chunk| from.saturating_add(chunk).min(size));
    if end < size || !last_is_apart {
        return end;
    }
    // Pieces are multiples of the granularity, wherever they begin.
    let before_last = size.saturating_sub(from).saturating_sub(1) / granularity * granularity;
    if before_last > 0 { from.saturating_add(before_last) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1000;

    fn send(from: u64, to: u64) -> Step {
        Step::Send { from, to, total: (to == SIZE).then_some(SIZE) }
    }

    /// A plan with a session, of which the server has so many bytes.
    fn at(bytes: u64) -> Plan {
        let mut plan = Plan::new(false);
        assert_eq!(plan.next(), Ask::Start);
        assert_eq!(
            plan.replied(Step::Start, Reply::Started, Some(SIZE), 0),
            Decision::NotDone { progress: false }
        );
        assert_eq!(plan.next(), Ask::Send { from: 0 });
        if bytes > 0 {
            let decision = plan.replied(send(0, bytes), Reply::Persisted(bytes), Some(SIZE), 0);
            assert_eq!(decision, Decision::NotDone { progress: true });
        }
        plan
    }

    #[test]
    fn a_failure_is_followed_by_a_question_and_by_what_is_missing() {
        let mut plan = at(256);
        plan.sends();
        plan.lost(Some(send(256, SIZE)));
        assert_eq!(plan.next(), Ask::Query);
        // The question fails as well.
        plan.lost(Some(Step::Query));
        assert_eq!(plan.next(), Ask::Query);
        let decision = plan.replied(Step::Query, Reply::Persisted(512), Some(SIZE), 0);
        assert_eq!((decision, plan.next()), (Decision::NotDone { progress: true }, Ask::Send { from: 512 }));
        assert_eq!(plan.resumptions, 0);
        plan.sends();
        assert_eq!(plan.resumptions, 1);
        assert_eq!(plan.replied(send(512, SIZE), Reply::Finished, Some(SIZE), 0), Decision::Done);
        assert_eq!(plan.persisted(), SIZE);
    }

    #[test]
    fn a_lost_final_reply_is_found_by_the_question() {
        let mut plan = at(256);
        plan.sends();
        plan.lost(Some(send(256, SIZE)));
        assert_eq!(plan.replied(Step::Query, Reply::Finished, Some(SIZE), 0), Decision::Done);
    }

    #[test]
    fn a_chunk_of_which_nothing_was_persisted_failed() {
        let mut plan = at(256);
        let decision = plan.replied(send(256, 512), Reply::Persisted(256), Some(SIZE), 0);
        assert_eq!((decision, plan.next()), (Decision::NothingPersisted, Ask::Send { from: 256 }));
        // A server that loses bytes is believed, which is no progress until it has more than ever.
        let decision = plan.replied(Step::Query, Reply::Persisted(1), Some(SIZE), 0);
        assert_eq!((decision, plan.next()), (Decision::NotDone { progress: false }, Ask::Send { from: 1 }));
        let decision = plan.replied(send(1, 512), Reply::Persisted(200), Some(SIZE), 0);
        assert_eq!(decision, Decision::NotDone { progress: false });
        let decision = plan.replied(send(200, 512), Reply::Persisted(257), Some(SIZE), 0);
        assert_eq!(decision, Decision::NotDone { progress: true });
        // Of what the source can't send again nothing may get lost.
        assert_eq!(plan.replied(Step::Query, Reply::Persisted(256), Some(SIZE), 257), Decision::NoWayBack);
    }

    #[test]
    fn all_bytes_persisted_and_no_object_is_finished_by_an_empty_request() {
        let mut plan = at(SIZE);
        assert_eq!(plan.next(), Ask::Send { from: SIZE });
        let decision = plan.replied(send(SIZE, SIZE), Reply::Persisted(SIZE), Some(SIZE), 0);
        assert_eq!(decision, Decision::NothingPersisted);
        assert_eq!(plan.replied(send(SIZE, SIZE), Reply::Finished, Some(SIZE), 0), Decision::Done);
    }

    #[test]
    fn a_session_that_is_gone_is_started_anew_where_the_source_can_go_back() {
        for step in [Step::Query, send(256, 512)] {
            let mut plan = at(256);
            assert_eq!(
                (plan.replied(step, Reply::Gone, Some(SIZE), 0), plan.next()),
                (Decision::Anew, Ask::Start)
            );
            assert_eq!(plan.replied(step, Reply::Gone, Some(SIZE), 1), Decision::NoWayBack);
        }
        let mut plan = Plan::new(false);
        assert_eq!(plan.replied(Step::Start, Reply::Gone, Some(SIZE), 0), Decision::Failed);
        // Of a session alone nobody knows how it was started.
        assert_eq!(Plan::resumed(false).replied(Step::Query, Reply::Gone, Some(SIZE), 0), Decision::Refused);
    }

    #[test]
    fn servers_that_lie_are_found_out() {
        let malformed = |decision| matches!(decision, Decision::Malformed(_));
        // More than was sent, or than there is.
        let mut plan = at(256);
        assert!(malformed(plan.replied(send(256, 512), Reply::Persisted(513), Some(SIZE), 0)));
        assert!(malformed(Plan::resumed(true).replied(
            Step::Query,
            Reply::Persisted(SIZE + 1),
            Some(SIZE),
            0
        )));
        assert_eq!(
            Plan::resumed(true).replied(Step::Query, Reply::Persisted(SIZE + 1), None, 0),
            Decision::NotDone { progress: true }
        );
        // An object before its last byte.
        assert_eq!(at(256).replied(send(256, 512), Reply::Finished, Some(SIZE), 0), Decision::Early);
        assert!(malformed(Plan::new(false).replied(Step::Start, Reply::Finished, Some(SIZE), 0)));
        assert!(malformed(Plan::new(false).replied(Step::Start, Reply::Persisted(0), Some(SIZE), 0)));
        assert!(malformed(at(0).replied(Step::Query, Reply::Started, Some(SIZE), 0)));
        assert!(malformed(at(0).replied(Step::Query, Reply::Malformed("no"), Some(SIZE), 0)));
    }

    #[test]
    fn one_request_is_enough_for_little() {
        let mut plan = Plan::new(true);
        assert_eq!(plan.next(), Ask::Single);
        assert_eq!(plan.replied(Step::Single, Reply::Failed, Some(3), 0), Decision::Failed);
        plan.lost(Some(Step::Single));
        assert_eq!(plan.next(), Ask::Single);
        assert_eq!(plan.replied(Step::Single, Reply::Finished, Some(3), 0), Decision::Done);
        assert_eq!(plan.persisted(), 3);
    }

    #[test]
    fn a_precondition_that_failed_because_the_object_was_made() {
        // Nothing was lost: it is somebody else's object.
        let mut plan = Plan::new(true);
        assert_eq!(plan.replied(Step::Single, Reply::Conflict, Some(3), 0), Decision::Failed);
        let mut plan = Plan::new(true);
        plan.lost(Some(Step::Single));
        assert_eq!(
            plan.replied(Step::Single, Reply::Conflict, Some(3), 0),
            Decision::NotDone { progress: false }
        );
        assert_eq!(plan.next(), Ask::Look);
        plan.lost(Some(Step::Look));
        assert_eq!(plan.next(), Ask::Look);
        assert_eq!(plan.replied(Step::Look, Reply::Finished, Some(3), 0), Decision::Done);
    }

    /// The longest object of Cloud Storage has 5 TiB.
    #[test]
    fn the_longest_object() {
        const TIB_5: u64 = 5 << 40;
        const GRANULARITY: u64 = 256 * 1024;
        let mut plan = Plan::resumed(true);
        let decision = plan.replied(Step::Query, Reply::Persisted(TIB_5 - 10), Some(TIB_5), 0);
        assert_eq!(
            (decision, plan.next()),
            (Decision::NotDone { progress: true }, Ask::Send { from: TIB_5 - 10 })
        );
        let last = Step::Send { from: TIB_5 - 10, to: TIB_5, total: Some(TIB_5) };
        assert_eq!(plan.replied(last, Reply::Finished, Some(TIB_5), 0), Decision::Done);
        assert_eq!(plan.persisted(), TIB_5);
        assert_eq!(extent(0, TIB_5, GRANULARITY, None, true), TIB_5 - GRANULARITY);
        assert_eq!(extent(TIB_5 - GRANULARITY, TIB_5, GRANULARITY, None, true), TIB_5);
        assert_eq!(extent(1, TIB_5, GRANULARITY, Some(GRANULARITY), true), 1 + GRANULARITY);
        assert_eq!(extent(u64::MAX - 1, u64::MAX, GRANULARITY, Some(GRANULARITY), true), u64::MAX);
    }

    #[test]
    fn how_far_a_request_goes() {
        for ((from, size, chunk, last_is_apart), end) in [
            ((0, 1000, None, false), 1000),
            ((0, 1000, None, true), 900),
            ((900, 1000, None, true), 1000),
            ((950, 1000, None, true), 1000),
            ((0, 900, None, true), 800),
            ((0, 100, None, true), 100),
            ((0, 1, None, true), 1),
            ((0, 0, None, true), 0),
            ((0, 1000, Some(300), true), 300),
            ((600, 1000, Some(300), true), 900),
            ((700, 1000, Some(300), true), 900),
            ((50, 1000, None, true), 950),
            ((900, 1000, Some(300), true), 1000),
            ((700, 1000, Some(300), false), 1000),
        ] {
            assert_eq!(
                extent(from, size, 100, chunk, last_is_apart),
                end,
                "{from} {size} {chunk:?} {last_is_apart}"
            );
        }
    }
}
