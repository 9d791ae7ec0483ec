//! Credentials that a server has refused.

use gax_retry::Delivery;
use gax_retry::operation::{AttemptResult, Resend};
use http::Extensions;
use std::sync::Arc;

/// The cached credentials that a request was sent with, which its server has refused.
///
/// The service that has added them, such as a `CredentialsService`, puts this into the
/// extensions of the response. The protocol [takes](Self::take) it out when the attempt fails, and [adds](Self::add_to) it to the
/// facts. The credentials are dropped, and the request is sent again immediately, once, with others: this is no attempt, and takes
/// nothing from a retry budget. A request that can't be sent again isn't.
#[derive(Clone)]
pub struct RefusedCredentials {
    /// Drops them. Returns whether there are going to be others.
    drop: Arc<dyn Fn() -> bool + Send + Sync>,
    delivery: Delivery,
}

impl RefusedCredentials {
    /// Credentials that this closure drops. It returns whether the request is worth sending again. `delivery`: how far a request
    /// got that is refused like this.
    #[must_use]
    pub fn new(drop: impl Fn() -> bool + Send + Sync + 'static, delivery: Delivery) -> Self {
        Self { drop: Arc::new(drop), delivery }
    }

    /// Those of a response; `None`: it was not refused for any of our own.
    #[must_use]
    pub fn take(extensions: &mut Extensions) -> Option<Self> {
        extensions.remove()
    }

    /// The facts of the attempt that failed with this response.
    pub fn add_to(self, result: AttemptResult) -> AttemptResult {
        let result = result.with_delivery(result.delivery().min(self.delivery));
        if (self.drop)() { result.with_resend(Resend::Renewed) } else { result }
    }
}

gax_text::short_debug! { self: RefusedCredentials {} }
