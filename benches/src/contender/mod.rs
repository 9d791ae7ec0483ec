//! Who is measured.

mod backon;
mod bare;
mod generated;
mod layered;
mod raw;
mod tower_retry;
mod traits;

pub use backon::Backon;
pub use bare::Bare;
pub use generated::{Generated, Untimed};
pub use layered::Layered;
pub use raw::{Raw, RawTimeout};
pub use tower_retry::TowerRetry;
pub use traits::{Contender, Outcome, Wire};
