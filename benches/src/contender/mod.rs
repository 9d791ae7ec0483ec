//! Who is measured.

mod bare;
mod looped;
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod raw;
mod roster;
mod tower_retry;
mod traits;

pub use bare::Bare;
pub use looped::{Backon, Loop, Looped};
pub use ours::{Generated, Layered};
#[cfg(feature = "peers")]
pub use peers::{BackoffLoop, GcloudGax, GoogleGax, GooglePolicies, TokioRetry2};
pub use raw::{Raw, RawTimeout};
pub use roster::{RETRYING, Visitor, each_retrying};
pub use tower_retry::TowerRetry;
pub use traits::{Contender, Outcome, Wire};
