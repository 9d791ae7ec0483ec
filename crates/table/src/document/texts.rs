//! Texts that come again and again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// How many texts are remembered.
const PLACES: usize = 256;

/// Keeps texts that come often, such as keys and the names of services, once. Only some of the last ones are remembered,
/// so that a file of many texts takes no more room.
#[derive(Debug)]
pub(super) struct Texts {
    last: [Option<Arc<str>>; PLACES],
}

impl Default for Texts {
    fn default() -> Self {
        Self { last: [const { None }; PLACES] }
    }
}

impl Texts {
    /// The text, shared with an earlier one if that is still remembered.
    pub(super) fn kept(&mut self, text: &str) -> Arc<str> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % (PLACES as u64)).unwrap_or_default();
        let Some(place) = self.last.get_mut(place) else { return text.into() };
        match place {
            Some(known) if **known == *text => known.clone(),
            _ => place.insert(text.into()).clone(),
        }
    }
}
