//! Methods by their path.

use crate::grpc::methods::method_match::MethodMatch;
use std::sync::{Arc, OnceLock};

/// Methods by their path without the leading slash: those that a table names, and others as their calls bring them up, which the
/// table has by their service or by its defaults.
///
/// Reading takes no lock, and nothing is ever replaced. There is room for the methods of several large services; others are
/// resolved in each call, which is slower, no more.
#[derive(Debug)]
pub(super) struct MethodMap {
    /// A power of two, at least half of which the table's own methods leave free.
    places: Box<[Place]>,
    /// How many places in a row a method may be in.
    reach: usize,
}

type Place = OnceLock<Entry>;

#[derive(Debug)]
struct Entry {
    path: Box<str>,
    found: MethodMatch,
    /// `true` if the table names it; `false`: a call brought it up.
    is_named: bool,
}

impl MethodMap {
    const PLACES: usize = 256;
    const REACH: usize = 8;

    /// The methods that a table names.
    pub(super) fn new(named: Vec<(Box<str>, MethodMatch)>) -> Self {
        let places = named.len().saturating_mul(2).next_power_of_two().max(Self::PLACES);
        let mut map =
            Self { places: (0..places).map(|_| Place::new()).collect(), reach: Self::REACH.min(places) };
        for (path, found) in named {
            map.insert(path, found);
        }
        map
    }

    /// The first of several of one path stays.
    fn insert(&mut self, path: Box<str>, found: MethodMatch) {
        let is_its = |place: &Place| place.get().is_none_or(|entry| entry.path == path);
        let place = row(&self.places, &path).enumerate().find(|(_, place)| is_its(place));
        if let Some((distance, place)) = place {
            let _first = place.set(Entry { path, found, is_named: true });
            self.reach = self.reach.max(distance + 1);
        }
    }

    /// The method of that path. If it is new, it is what `resolve` makes of it, with a separate config.
    #[inline]
    pub(super) fn find(
        &self,
        path: &str,
        resolve: impl FnOnce() -> Option<MethodMatch>,
    ) -> Option<MethodMatch> {
        let mut free = None;
        for place in row(&self.places, path).take(self.reach) {
            match place.get() {
                Some(entry) if *entry.path == *path => return Some(entry.found.clone()),
                Some(_) => {}
                None => {
                    free = Some(place);
                    break;
                }
            }
        }
        learn(free, path, resolve)
    }

    /// The methods that the table names, with their paths.
    pub(super) fn named_mut(&mut self) -> impl Iterator<Item = (&str, &mut MethodMatch)> {
        let entries = self.places.iter_mut().filter_map(OnceLock::get_mut);
        entries.filter(|entry| entry.is_named).map(|entry| (&*entry.path, &mut entry.found))
    }

    /// The method of that path, if the table names it.
    pub(super) fn named(&self, path: &str) -> Option<&MethodMatch> {
        let mut entries = row(&self.places, path).take(self.reach).filter_map(OnceLock::get);
        entries.find(|entry| entry.is_named && *entry.path == *path).map(|entry| &entry.found)
    }
}

/// The places in the order in which a method of that path takes the first that is free.
#[inline]
fn row<'a>(places: &'a [Place], path: &str) -> impl Iterator<Item = &'a Place> + use<'a> {
    // Every letter that is hashed has a say in the high bits.
    let start = hash(path).checked_shr(u64::BITS - places.len().trailing_zeros()).unwrap_or_default();
    let (start, mask) = (usize::try_from(start).unwrap_or_default(), places.len() - 1);
    (0..places.len()).filter_map(move |step| places.get(start.wrapping_add(step) & mask))
}

/// Puts a method into a place that is free. If another call is quicker, its method has the place, and this one is learned the next
/// time.
#[cold]
fn learn(
    free: Option<&Place>,
    path: &str,
    resolve: impl FnOnce() -> Option<MethodMatch>,
) -> Option<MethodMatch> {
    let found = resolve()?;
    let Some(place) = free else { return Some(found) };
    let found = MethodMatch { config: Arc::new(found.config.of_one_method()), ..found };
    let _taken = place.set(Entry { path: path.into(), found: found.clone(), is_named: false });
    Some(found)
}

/// A quick hash of a path: of its length and its end, where methods differ. Paths come from the program: outsiders can't
/// choose ones that collide.
#[inline]
fn hash(path: &str) -> u64 {
    // FxHash's.
    const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    let bytes = path.as_bytes();
    let length = mix(0, bytes.len() as u64);
    let end = bytes.get(bytes.len().saturating_sub(16)..).unwrap_or_default();
    match (end.first_chunk(), end.last_chunk()) {
        (Some(first), Some(last)) => mix(mix(length, u64::from_le_bytes(*first)), u64::from_le_bytes(*last)),
        _ => end.iter().fold(length, |hash, byte| mix(hash, u64::from(*byte))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::MethodKind;

    fn map(names: impl IntoIterator<Item = String>) -> MethodMap {
        let methods = names.into_iter().map(|name| (name.into(), MethodMatch::example()));
        MethodMap::new(methods.collect())
    }

    fn names(count: u32) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("pkg.Service/Method{number}"))
    }

    #[test]
    fn a_method_is_resolved_once_and_has_a_config_of_its_own() {
        let (map, entry) = (map([]), MethodMatch::example());
        let first = map.find("a.B/C", || Some(entry.clone())).unwrap();
        assert!(entry.config.example.is_none() && first.config.example.is_some());
        let again = map.find("a.B/C", || unreachable!()).unwrap();
        assert!(Arc::ptr_eq(&first.config, &again.config));
        assert_eq!(again.kind, Some(MethodKind::Unary));
        let other = map.find("a.B/D", || Some(entry.clone())).unwrap();
        assert!(!Arc::ptr_eq(&first.config, &other.config));
    }

    #[test]
    fn a_method_that_the_table_does_not_have_is_resolved_again() {
        let map = map([]);
        assert!(map.find("a.B/C", || None).is_none());
        assert!(map.find("a.B/C", || Some(MethodMatch::example())).is_some());
    }

    #[test]
    fn every_method_that_a_table_names_has_a_place() {
        for count in [0, 1, 128, 129, 5000] {
            let map = map(names(count));
            assert!(names(count).all(|name| map.find(&name, || unreachable!()).is_some()), "{count}");
            assert!(map.reach < 64, "{count} methods are up to {} places away", map.reach);
        }
        assert!(map(["a.B/C", "a.B/C"].map(str::to_owned)).find("a.B/C", || unreachable!()).is_some());
    }

    #[test]
    fn a_method_without_a_place_is_resolved_each_time() {
        let (map, entry) = (map([]), MethodMatch::example());
        let is_learned = |name: &String| {
            map.find(name, || Some(entry.clone()));
            map.find(name, || Some(entry.clone()))
                .is_some_and(|found| !Arc::ptr_eq(&found.config, &entry.config))
        };
        let learned = names(10_000).filter(is_learned).count();
        assert!((200..=256).contains(&learned), "{learned}");
        assert!(map.find("a.B/C", || None).is_none());
    }
}
