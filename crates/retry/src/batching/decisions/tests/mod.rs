//! Batches stepped by hand.

mod by_hand;
mod endings;
mod flow_control;
mod ordering;
mod settings;
mod thresholds;
