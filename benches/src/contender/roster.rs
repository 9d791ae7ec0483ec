//! Everybody who retries, in the order of the tables.

#[cfg(feature = "peers")]
use super::{BackoffLoop, GcloudGax, GoogleGax, TokioRetry2};
use super::{Backon, Contender, Generated, Layered, TowerRetry, Wire};
use crate::pace::Pace;

/// How many contenders [`each_retrying`] has visited.
pub const RETRYING: usize = if cfg!(feature = "peers") { 8 } else { 4 };

/// Measures one contender after another.
pub trait Visitor {
    /// Measures this one.
    fn visit<C: Contender>(&mut self, contender: C);
}

/// Has each contender that retries visited: other libraries, the layer, the generated client. Each gets a service of its own.
pub fn each_retrying<S: Wire>(mut service: impl FnMut() -> S, pace: Pace, visitor: &mut impl Visitor) {
    visitor.visit(TowerRetry::new(service(), pace));
    visitor.visit(Backon::new(service(), pace));
    #[cfg(feature = "peers")]
    {
        visitor.visit(GoogleGax::new(service(), pace));
        visitor.visit(GcloudGax::new(service(), pace));
        visitor.visit(TokioRetry2::new(service(), pace));
        visitor.visit(BackoffLoop::new(service(), pace));
    }
    visitor.visit(Layered::new(service(), pace));
    visitor.visit(Generated::new(service(), pace));
}
