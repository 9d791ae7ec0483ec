//! An operation drawn as a timeline: one lane an attempt, time from left to right.
//!
//! Written by hand, so that the same operation gives the same bytes everywhere.

mod axis;
mod drawing;
mod label;
mod lane;
mod layout;
mod legend;
mod paper;
mod picture;
#[cfg(test)]
mod tests;

pub(crate) use picture::Picture;
