//! Methods that were called, by where their paths are in memory.

use super::found::Found;
use super::usual::bare_path;
use http::Uri;
use http::uri::PathAndQuery;
use std::sync::OnceLock;

/// Methods that were called, by where their paths are in memory.
///
/// A generated client has the path of each method as a constant, so that the same bytes come with every call: they need
/// neither be hashed nor compared (bench `speed`, instructions). A path is kept as long as this is, so that no other can come
/// to lie where it does.
///
/// Reading takes no lock. Methods whose paths share a place, or are made anew for each call, are found by their names, which
/// takes longer, no more.
#[derive(Debug)]
pub(super) struct Called {
    places: Box<[OnceLock<(PathAndQuery, Found)>]>,
}

impl Default for Called {
    fn default() -> Self {
        Self { places: (0..Self::PLACES).map(|_| OnceLock::new()).collect() }
    }
}

impl Called {
    const PLACES: usize = 128;

    /// The method of a request to that URI.
    #[inline]
    pub(super) fn find(&self, uri: &Uri) -> Option<Found> {
        let path = bare_path(uri)?.as_str();
        let (known, found) = self.places.get(place(path))?.get()?;
        std::ptr::eq(known.as_str(), path).then(|| found.clone())
    }

    /// Keeps a method that a request to that URI was found to call, if that is where its requests go.
    pub(super) fn keep(&self, uri: &Uri, found: &Found) {
        if found.plan.usual.as_ref().is_some_and(|usual| usual.is_at(uri))
            && let Some(path) = bare_path(uri)
            && let Some(free) = self.places.get(place(path.as_str()))
        {
            let _taken = free.set((path.clone(), found.clone()));
        }
    }
}

/// Constants lie next to each other: what is above a few bytes tells them apart.
#[inline]
fn place(path: &str) -> usize {
    let address = path.as_ptr().addr();
    ((address >> 4) ^ (address >> 11)) % Called::PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::sync::Arc;

    /// A method, and whether requests to it have set the example.
    fn found(example: Option<&Uri>) -> Found {
        let found = Found::example();
        let plan = found.plan.of_one_method();
        if let (Some(usual), Some(uri)) = (&plan.usual, example) {
            usual.compare(uri, None);
        }
        Found { plan: Arc::new(plan), ..found }
    }

    #[test]
    fn a_method_is_found_by_the_very_path_that_its_first_request_had() {
        let (called, uri) = (Called::default(), Uri::from_static("/pkg.Service/Get"));
        called.keep(&uri, &found(None));
        assert!(called.find(&uri).is_none());
        called.keep(&uri, &found(Some(&uri)));
        assert!(called.find(&uri).is_some() && called.find(&uri.clone()).is_some());
        for other in ["/pkg.Service/Get", "http://host/pkg.Service/Get", "/pkg.Service/Got", "host:1"] {
            let other = Uri::try_from(other.to_owned()).unwrap();
            assert!(called.find(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_path_that_shares_the_place_of_another_is_another() {
        let text = Bytes::from("/pkg.Service/Get".repeat(1000));
        let uri = |start: usize| {
            let path = text.slice(start * 16..(start + 1) * 16);
            Uri::from(PathAndQuery::from_maybe_shared(path).unwrap())
        };
        let (first, called) = (uri(0), Called::default());
        let same_place = (1..1000).map(uri).find(|other| place(other.path()) == place(first.path()));
        let second = same_place.unwrap();
        called.keep(&first, &found(Some(&first)));
        assert!(called.find(&first).is_some() && called.find(&second).is_none());
        called.keep(&second, &found(Some(&second)));
        assert!(called.find(&first).is_some() && called.find(&second).is_none());
    }

    #[test]
    fn another_path_is_not_kept_though_it_reads_the_same() {
        let (called, other) = (Called::default(), Uri::try_from("/pkg.Service/Get".to_owned()).unwrap());
        called.keep(&other, &found(Some(&Uri::from_static("/pkg.Service/Get"))));
        assert!(called.find(&other).is_none());
    }
}
