//! Attempts that are made again as if they had never been (gRFC A6, transparent retries).

use crate::operation::Resend;

/// How often, between two attempts, a request that was lost before it left is sent again immediately.
const MAX_LOST: u8 = 3;

/// The transparent retries so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Resends {
    lost: u8,
    stale: bool,
    refused: bool,
    renewed: bool,
}

impl Resends {
    /// Returns whether this loss may be made good silently; if so, it is counted.
    pub(super) fn allow(&mut self, resend: Resend) -> bool {
        match resend {
            Resend::No => false,
            Resend::Lost if self.lost == MAX_LOST => false,
            Resend::Lost => {
                self.lost += 1;
                true
            }
            Resend::Stale => !std::mem::replace(&mut self.stale, true),
            Resend::Refused => !std::mem::replace(&mut self.refused, true),
            Resend::Renewed => !std::mem::replace(&mut self.renewed, true),
        }
    }

    /// The operation gets on: its credentials were accepted.
    pub(super) fn progressed(&mut self) {
        self.renewed = false;
    }

    /// Begins the counts between two attempts again.
    pub(super) fn begin_attempt(&mut self) {
        *self = Self { refused: self.refused, renewed: self.renewed, ..Self::default() };
    }
}
