//! How far a transfer has come.

use std::fmt;

/// How far a transfer has come: while it runs, and in the end as a part of its report.
///
/// # Examples
///
/// ```
/// use gax_transfer::TransferProgress;
///
/// fn percent(progress: &TransferProgress) -> Option<u64> {
///     Some(progress.bytes() * 100 / progress.total()?.max(1))
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransferProgress {
    pub(super) bytes: u64,
    pub(super) total: Option<u64>,
    pub(super) resumptions: u32,
}

impl TransferProgress {
    gax_text::getters! { self:
        /// The bytes of the object that have gone over: of an upload those that its connection has taken, which may be more than the
        /// server has, and in the end those that the server has, as far as it has said so; of a download those that were written. While
        /// a transfer runs, the number goes back only as that of [`resumptions`](Self::resumptions) goes up, and never exceeds the
        /// [`total`](Self::total).
        pub bytes: u64 = self.bytes;

        /// The bytes of the whole, as far as they are known.
        pub total: Option<u64> = self.total;

        /// How often it continued after a failure.
        pub resumptions: u32 = self.resumptions;
    }
}

impl fmt::Display for TransferProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, resumptions, .. } = self;
        let noun = if *resumptions == 1 { "resumption" } else { "resumptions" };
        write!(f, "transfer: {bytes} bytes, {resumptions} {noun}")
    }
}
