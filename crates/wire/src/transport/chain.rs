//! An error and what it comes from.

use std::error::Error;
use std::io;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// An error and all its sources. An I/O error doesn't name one that it wraps as its source, but that one's source.
pub fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| {
        let link: &'a (dyn Error + 'static) = *link;
        match link.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => link.source(),
        }
    })
}
