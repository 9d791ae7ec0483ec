//! Requests that are sent again at once, which is no attempt of its own.

/// How often a request that never left is sent again before its attempt counts as failed.
const MOST_UNSENT: u8 = 3;

/// How a request was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It never left.
    Unsent,
    /// The server said that it has not looked at it.
    Refused,
    /// Its connection had been used before, and the other side closed it.
    #[cfg(feature = "http")]
    Stale,
}

/// What an operation has sent again so far.
#[derive(Debug, Default)]
pub(crate) struct Resends {
    unsent: u8,
    /// In any attempt.
    refused: bool,
    #[cfg(feature = "http")]
    stale: bool,
}

impl Resends {
    /// Another attempt begins.
    pub(crate) fn attempt_begins(&mut self) {
        *self = Self { refused: self.refused, ..Self::default() };
    }

    /// Whether a request that was lost like that is sent again at once.
    pub(crate) fn allow(&mut self, loss: Loss) -> bool {
        match loss {
            Loss::Unsent => {
                let is_allowed = self.unsent < MOST_UNSENT;
                self.unsent += u8::from(is_allowed);
                is_allowed
            }
            Loss::Refused => !std::mem::replace(&mut self.refused, true),
            #[cfg(feature = "http")]
            Loss::Stale => !std::mem::replace(&mut self.stale, true),
        }
    }
}
