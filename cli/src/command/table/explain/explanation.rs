//! What there is to say of a method, as programs read it.

use super::readers::Reader;
use crate::command::table::beside::Beside;
use crate::command::table::bounds::Variables;
use crate::render::{Ms, Timeline};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    pub(super) method: String,
    pub(super) dialect: &'static str,
    pub(super) environment: Option<Variables>,
    pub(super) codes: Vec<&'static str>,
    pub(super) attempts_at_most: Option<u32>,
    pub(super) worst_case_ms: Option<Ms>,
    pub(super) load: f64,
    pub(super) load_capped: bool,
    pub(super) throttled_load: Option<f64>,
    pub(super) refused: Timeline,
    pub(super) hanging: Timeline,
    #[serde(flatten)]
    pub(super) beside: Beside,
    pub(super) dialects: Vec<Reader>,
}
