//! Replies as a text has them, one a line.

use http::{HeaderValue, StatusCode};

/// A reply: `206 bytes 5-9/10 !3` is a status, the value of a header, and after how many bytes the body breaks off. A mark before
/// it, `~` or `^`, means what the target says.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) mark: Option<char>,
    pub(super) status: StatusCode,
    pub(super) value: String,
    pub(super) cut: Option<usize>,
}

impl Line {
    fn read(text: &str) -> Self {
        let mark = text.chars().next().filter(|first| "~^".contains(*first));
        let text = text.trim_start_matches(['~', '^']);
        let (text, cut) = text.rsplit_once('!').map_or((text, None), |(text, cut)| (text, cut.parse().ok()));
        let (status, value) = text.split_once(' ').unwrap_or((text, ""));
        // Anything else is a success: most bytes have to get somewhere.
        let status = status.parse().ok().filter(|status: &StatusCode| status.as_u16() >= 200);
        Self { mark, status: status.unwrap_or_default(), value: value.trim_end().to_owned(), cut }
    }

    /// The replies in some bytes; so many at most that an operation ends soon.
    pub(super) fn all(data: &[u8]) -> Vec<Self> {
        String::from_utf8_lossy(data).lines().take(20).map(Self::read).collect()
    }

    /// The value as that of a header, if it can be one.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(self.value.as_bytes()).ok().filter(|value| !value.is_empty())
    }
}
