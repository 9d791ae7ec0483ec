//! Credentials that a server has refused.

use gax_retry::Delivery;
use gax_retry::operation::{AttemptResult, Resend};
use http::Extensions;

/// The server of a request has refused the cached credentials that it was sent with.
///
/// The service that has added them, such as a `CredentialsService`, drops them and puts this into the
/// extensions of the response. The protocol [takes](Self::take) it out when the attempt fails, and [adds](Self::add_to) it to the
/// facts. The request is sent again immediately, once, with other credentials: this is no attempt, and takes
/// nothing from a retry budget. A request that can't be sent again isn't.
#[derive(Debug, Clone, Copy)]
pub struct RefusedCredentials {
    are_renewed: bool,
    delivery: Delivery,
}

impl RefusedCredentials {
    /// `are_renewed`: there are going to be others, so that the request is worth sending again. `delivery`: how far a request got
    /// that is refused like this.
    #[must_use]
    pub fn new(are_renewed: bool, delivery: Delivery) -> Self {
        Self { are_renewed, delivery }
    }

    /// Those of a response; `None`: it was not refused for any of our own.
    #[must_use]
    pub fn take(extensions: &mut Extensions) -> Option<Self> {
        extensions.remove()
    }

    /// The facts of the attempt that failed with this response.
    pub fn add_to(self, result: AttemptResult) -> AttemptResult {
        let result = result.with_delivery(result.delivery().min(self.delivery));
        if self.are_renewed { result.with_resend(Resend::Renewed) } else { result }
    }
}
