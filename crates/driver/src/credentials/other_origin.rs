//! Requests to another origin than their program has named.

/// In the extensions of a request that goes to another origin than its program has named: a redirect or the session of an upload
/// has led there. [Transfers](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/transfers.md) mark their requests with
/// it. A service that adds secrets to requests should not add them to these.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct OtherOrigin;
