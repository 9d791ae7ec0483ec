//! How long attempts may follow each other without a wait.

/// After how many attempts without a wait other tasks get their turn.
pub(crate) const BURST: u8 = 16;
