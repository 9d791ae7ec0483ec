//! Fuzz targets: functions that play bytes of a stranger to a parser, and panic if a promise is broken.
//!
//! The end-to-end tests include `targets` too, and play the corpora and mutations of them.

mod targets;

/// Plays the bytes to the target of that name.
///
/// # Panics
///
/// There is no such target, or a promise was broken.
pub fn play(name: &str, data: &[u8]) {
    let target = targets::TARGETS.iter().find(|(known, _)| *known == name);
    target.expect("a target of that name").1(data);
}
