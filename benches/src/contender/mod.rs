//! Who is measured.

mod attempt;
mod backon;
mod bare;
mod generated;
mod layered;
#[cfg(feature = "peers")]
mod peers;
mod raw;
mod roster;
mod tower_retry;
mod traits;

pub use backon::Backon;
pub use bare::Bare;
pub use generated::Generated;
pub use layered::Layered;
#[cfg(feature = "peers")]
pub use peers::{BackoffLoop, GcloudGax, GoogleGax, TokioRetry2};
pub use raw::{Raw, RawTimeout};
pub use roster::{RETRYING, Visitor, each_retrying};
pub use tower_retry::TowerRetry;
pub use traits::{Contender, Outcome, Wire};
