//! The attempts that settings lead to: attempt tables, and their impact on a caller and a service.

mod attempt_plan;
mod impact;
mod simulation;

pub use attempt_plan::{AttemptPlan, Response};
pub use impact::Impact;
pub use simulation::{Simulated, Simulation};
