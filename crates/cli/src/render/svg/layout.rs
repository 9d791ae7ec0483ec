//! The measures of the picture.

/// The width of the picture; text does not shrink with it, so it is fixed.
pub(super) const WIDTH: f64 = 960.0;
/// Where time begins and ends, from left to right.
pub(super) const LEFT: f64 = 176.0;
pub(super) const RIGHT: f64 = WIDTH - 36.0;
/// Where the first lane begins.
pub(super) const TOP: f64 = 116.0;
/// The height of a lane, and of the bar in it.
pub(super) const LANE: f64 = 44.0;
pub(super) const BAR: f64 = 26.0;
/// The most lanes drawn: a picture of more is not read.
pub(super) const MOST: usize = 40;
