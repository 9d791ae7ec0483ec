//! Who is measured.

mod attempt;
#[cfg(feature = "peers")]
mod backoff;
mod backon;
mod bare;
#[cfg(feature = "peers")]
mod gcloud_gax;
mod generated;
#[cfg(feature = "peers")]
mod google_gax;
mod layered;
mod raw;
mod roster;
#[cfg(feature = "peers")]
mod tokio_retry2;
mod tower_retry;
mod traits;

#[cfg(feature = "peers")]
pub use backoff::BackoffLoop;
pub use backon::Backon;
pub use bare::Bare;
#[cfg(feature = "peers")]
pub use gcloud_gax::GcloudGax;
pub use generated::{Generated, Untimed};
#[cfg(feature = "peers")]
pub use google_gax::GoogleGax;
pub use layered::Layered;
pub use raw::{Raw, RawTimeout};
pub use roster::{RETRYING, Visitor, each_retrying};
#[cfg(feature = "peers")]
pub use tokio_retry2::TokioRetry2;
pub use tower_retry::TowerRetry;
pub use traits::{Contender, Outcome, Wire};
