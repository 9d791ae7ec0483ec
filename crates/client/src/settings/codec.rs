//! Compression and limits of messages.

use gax_driver::__private::PREFIX;
use tonic::codec::CompressionEncoding;

/// tonic's own limit for what a client receives.
const DEFAULT_MAX_DECODING: usize = 4 * 1024 * 1024;

/// How messages are written and read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Codec {
    pub(crate) send_compressed: Option<CompressionEncoding>,
    pub(crate) accept_compressed: Vec<CompressionEncoding>,
    pub(crate) max_decoding: Option<usize>,
    pub(crate) max_encoding: Option<usize>,
}

impl Codec {
    /// Returns whether nothing but plain messages is sent or announced.
    pub(crate) fn is_plain(&self) -> bool {
        self.send_compressed.is_none() && self.accept_compressed.is_empty()
    }

    gax_text::getters! { self:
        pub(crate) max_decoding: usize = self.max_decoding.unwrap_or(DEFAULT_MAX_DECODING);

        /// The most bytes that a response of one message has.
        pub(crate) longest_response: usize = self.max_decoding().saturating_add(PREFIX);
    }
}
