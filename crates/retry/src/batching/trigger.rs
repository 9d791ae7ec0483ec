//! Why batches are sent.

/// Why a batch is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BatchTrigger {
    /// The threshold for elements.
    Elements,
    /// The threshold for bytes.
    Bytes,
    /// Its age.
    Delay,
    /// Somebody asked for it.
    Flush,
    /// No more elements are taken.
    Close,
    /// An element waits for room, and nothing was in flight that could make some.
    Held,
}

gax_text::names! {
    /// The word for it in metrics: `elements`, `bytes`, `delay`, `flush`, `close` or `held`.
    pub fn as_str for BatchTrigger {
        Elements = "elements",
        Bytes = "bytes",
        Delay = "delay",
        Flush = "flush",
        Close = "close",
        Held = "held",
    }
}
