//! The next request of an upload, and what follows from a response: data in, decision out.

use crate::upload::completion::Coverage;

/// The purpose of a request of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// All of it, in one request without a session.
    Single,
    /// A look whether the object is there, since one request that was lost may have made it.
    Look,
    /// A session.
    Start,
    /// How much the server has. `confirms`: a reply proved nothing about the end of the upload.
    Query { confirms: bool },
    /// The bytes from one place up to another. With the last of them the total is known.
    Send { from: u64, to: u64, total: Option<u64> },
}

/// The next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    Single,
    Look,
    Start,
    Query {
        confirms: bool,
    },
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
    /// The object is made, by what status and headers say.
    Finished,
    /// It is a success, and does not say that the object is made.
    Unproven,
    /// There is no such session, or not any longer.
    Gone,
    /// The session was cancelled.
    Cancelled,
    /// A precondition does not hold.
    Conflict,
    /// The server has refused to make an object whose checksum is not that of the source.
    Corrupted,
    /// It failed, and whether it is retried is the layer's to say.
    Failed,
    /// It failed, and the session continues.
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
    /// There is more to do, and nothing went wrong.
    NotDone { progress: bool },
    /// Nothing proves that the upload is whole.
    Unproven,
    /// Of what was sent the server has nothing. That is not progress, but a failure to be retried.
    NothingPersisted,
    /// The session or the object is gone, and another one can be made.
    Anew,
    /// The session is gone, or has lost bytes, and the source can't go back there.
    NoWayBack,
    /// The session was cancelled.
    Cancelled,
    /// The bytes were corrupted on their way. `again`: they are sent again.
    Corrupted { anew: bool },
    /// It failed, and whether it is retried is the layer's to say.
    Failed,
    /// It failed, and is retried.
    Recoverable,
    /// It failed for good.
    Refused,
    /// The response breaks the rules of the protocol.
    Malformed(&'static str),
}

/// The source as far as it is known, and how much of it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) size: Option<u64>,
    /// The first byte that the source can still send.
    pub(super) lowest: u64,
    /// The place behind the last byte that a connection has taken: the server can't have more of it.
    pub(super) sent: u64,
    /// `true` if the object can be looked for, and recognised by its checksum.
    pub(super) can_look: bool,
}

/// How far it has come with the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// One request is enough.
    Single,
    /// It was lost, and may have made the object.
    SingleLost,
    /// There may be an object that it has made.
    Look,
    /// There is no session.
    #[default]
    Start,
    /// There is a session.
    Session,
    /// There is one, whose last reply proved nothing.
    Doubt,
}

/// Who else may have sent bytes of the upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Others {
    /// Nobody.
    #[default]
    None,
    /// Another process that has found the session in the state file.
    Possible,
    /// Such a process has.
    Some,
    /// The one that this process continues for.
    Before,
}

/// How many sessions in a row are started and lost before one of them has more than any before.
const MAX_FRUITLESS: u32 = 3;

/// How far an upload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Plan {
    stage: Stage,
    /// `true` if it is known how a session is started.
    can_start: bool,
    /// How many bytes the server has, if that is known.
    at: Option<u64>,
    /// The most that it has had by this session.
    best: u64,
    /// The most that it has had by a session which was lost.
    best_lost: Option<u64>,
    /// The sessions that were started and lost since with no more than that.
    fruitless: u32,
    others: Others,
    /// `true` if all of it was sent again since it was corrupted on its way.
    is_sent_again: bool,
    /// `true` if something went wrong since bytes were sent last.
    is_interrupted: bool,
    pub(super) resumptions: u32,
}

impl Plan {
    /// An upload that begins. `is_shared`: another process can find its session.
    pub(super) fn new(is_single: bool, is_shared: bool) -> Self {
        let stage = if is_single { Stage::Single } else { Stage::Start };
        let others = if is_shared { Others::Possible } else { Others::None };
        Self { stage, others, can_start: true, ..Self::default() }
    }

    /// An upload that continues by a session of another process. `can_start`: if it is gone, another one can be started.
    pub(super) fn resumed(can_start: bool) -> Self {
        let (stage, others) = (Stage::Session, Others::Before);
        Self { can_start, stage, others, is_interrupted: true, ..Self::default() }
    }

    pub(super) fn next(&self) -> Ask {
        match (self.stage, self.at) {
            (Stage::Single | Stage::SingleLost, _) => Ask::Single,
            (Stage::Look, _) => Ask::Look,
            (Stage::Start, _) => Ask::Start,
            (Stage::Doubt, _) => Ask::Query { confirms: true },
            (Stage::Session, None) => Ask::Query { confirms: false },
            (Stage::Session, Some(from)) => Ask::Send { from },
        }
    }

    /// Bytes are about to be sent.
    pub(super) fn sends(&mut self) {
        if std::mem::take(&mut self.is_interrupted) {
            self.resumptions = self.resumptions.saturating_add(1);
        }
    }

    /// The bytes that the server has, as far as it has said so.
    pub(super) fn persisted(&self) -> u64 {
        self.at.unwrap_or(self.best)
    }

    /// A request has no response: the server may have any part of it.
    pub(super) fn lost(&mut self, step: Option<Step>) {
        self.at = None;
        if step == Some(Step::Single) {
            self.stage = Stage::SingleLost;
        }
        if let Some(Step::Send { .. } | Step::Single) = step {
            self.is_interrupted = true;
        }
    }

    /// How much of the source the server can have when that request has its response.
    pub(super) fn coverage(&self, step: Step, reach: Reach) -> Coverage {
        let is_whole = match (self.others, step) {
            // Another object may be as long.
            (_, Step::Look) => false,
            (Others::Some, _) => return Coverage::Unknown,
            (Others::Before, Step::Query { .. }) => true,
            (Others::Before, Step::Send { to, total, .. }) => total == Some(to),
            _ => reach.size.is_some_and(|size| reach.sent >= size),
        };
        if is_whole { Coverage::Whole } else { Coverage::Partial }
    }

    /// A request has that response.
    pub(super) fn replied(&mut self, step: Step, reply: Reply, reach: Reach) -> Decision {
        match (step, reply) {
            (Step::Start, Reply::Started) => {
                (self.stage, self.at) = (Stage::Session, Some(0));
                // To start sessions again and again is not progress.
                Decision::NotDone { progress: false }
            }
            (Step::Start, Reply::Finished | Reply::Unproven) => {
                Decision::Malformed("the server did not name a session")
            }
            (_, Reply::Finished) => {
                self.best = reach.size.unwrap_or(self.best);
                self.at = Some(self.best);
                Decision::Done
            }
            (_, Reply::Unproven) => self.doubts(step, reach),
            (Step::Single, Reply::Conflict) if self.stage == Stage::SingleLost && reach.can_look => {
                self.stage = Stage::Look;
                Decision::NotDone { progress: false }
            }
            (Step::Query { .. } | Step::Send { .. }, Reply::Persisted(bytes)) => {
                self.persisted_at(step, bytes, reach)
            }
            (Step::Look, Reply::Gone) => {
                self.stage = Stage::Single;
                Decision::Anew
            }
            (Step::Query { .. } | Step::Send { .. }, Reply::Gone) => {
                self.lost(Some(step));
                if self.best_lost.is_none_or(|lost| self.best > lost) {
                    (self.best_lost, self.fruitless) = (Some(self.best), 0);
                } else {
                    self.fruitless += 1;
                }
                if !self.can_start || self.fruitless >= MAX_FRUITLESS {
                    return Decision::Refused;
                }
                self.anew(reach).unwrap_or(Decision::Anew)
            }
            (Step::Single, Reply::Corrupted) => {
                Decision::Corrupted { anew: !std::mem::replace(&mut self.is_sent_again, true) }
            }
            (_, Reply::Corrupted) => {
                let anew = self.can_start && !self.is_sent_again && self.anew(reach).is_none();
                self.is_sent_again = true;
                Decision::Corrupted { anew }
            }
            (_, Reply::Cancelled) => Decision::Cancelled,
            (_, Reply::Failed | Reply::Gone | Reply::Conflict | Reply::Recoverable | Reply::Refused) => {
                // Whatever follows, such as the same with other credentials, begins with what the server has.
                self.lost(Some(step));
                match reply {
                    Reply::Recoverable => Decision::Recoverable,
                    Reply::Refused => Decision::Refused,
                    _ => Decision::Failed,
                }
            }
            (_, Reply::Malformed(problem)) => Decision::Malformed(problem),
            (Step::Single | Step::Look | Step::Start, Reply::Persisted(_)) => {
                Decision::Malformed("the server asks for more of an upload that has no session")
            }
            (_, Reply::Started) => Decision::Malformed("the server started a session that was not requested"),
        }
    }

    /// A reply does not prove that the upload is whole: that is asked for, once.
    fn doubts(&mut self, step: Step, reach: Reach) -> Decision {
        self.stage = match step {
            Step::Query { confirms: false } | Step::Send { .. } => Stage::Doubt,
            Step::Single if reach.can_look => Stage::Look,
            _ => return Decision::Unproven,
        };
        self.at = None;
        self.is_interrupted |= matches!(step, Step::Send { .. });
        Decision::NotDone { progress: false }
    }

    /// All of it is sent by another session, unless the source can't go back to its begin.
    fn anew(&mut self, reach: Reach) -> Option<Decision> {
        if reach.lowest > 0 {
            return Some(Decision::NoWayBack);
        }
        (self.stage, self.at, self.best, self.is_interrupted) = (Stage::Start, None, 0, true);
        if self.others != Others::None {
            self.others = Others::Possible;
        }
        None
    }

    fn persisted_at(&mut self, step: Step, bytes: u64, reach: Reach) -> Decision {
        let is_beyond = bytes > reach.sent && matches!(self.others, Others::None | Others::Possible);
        if reach.size.is_some_and(|size| bytes > size) || is_beyond && self.others == Others::None {
            return Decision::Malformed("the server claims to have more bytes than it was sent");
        }
        if is_beyond {
            self.others = Others::Some;
        }
        (self.stage, self.at) = (Stage::Session, Some(bytes));
        let progress = bytes > self.best;
        self.best = self.best.max(bytes);
        if bytes < reach.lowest {
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
/// piece is a separate request, since checksums go with it that are not known before.
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
mod tests;
