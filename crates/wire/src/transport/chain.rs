//! An error and what it comes from.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// An error and all its sources. An I/O error doesn't name one that it wraps as its source, but that one's source; that of a
/// connection which isn't there names none.
pub fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| {
        let link: &'a (dyn Error + 'static) = *link;
        if let Some(NotConnected(cause)) = link.downcast_ref() {
            return Some(&**cause);
        }
        match link.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => link.source(),
        }
    })
}

/// An error and its sources, except for those whose text is there already.
pub fn text_of(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for link in chain(error) {
        let own = link.to_string();
        if !text.ends_with(&own) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&own);
        }
        if link.is::<NotConnected>() {
            break;
        }
    }
    text
}

/// There was no connection, as a connection of our own says it to each of its calls, whatever is above it. Its text is that of its
/// cause and of all sources of that, so that it names no source.
#[derive(Debug, Clone)]
pub struct NotConnected(Arc<dyn Error + Send + Sync>);

impl From<BoxError> for NotConnected {
    fn from(cause: BoxError) -> Self {
        Self(cause.into())
    }
}

gax_text::error_text! { self: NotConnected => None, "{}", text_of(&*self.0) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_shown_twice() {
        let refused = io::Error::other(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!(text_of(&refused), "connection refused");
        assert_eq!(NotConnected::from(BoxError::from(refused)).to_string(), "connection refused");
    }
}
