//! Methods that were called, of those that a table does not name.

use super::found::Found;
use std::sync::{Arc, OnceLock};

/// Methods that a table has by their service, or by its defaults, as their calls bring them up: from the second call on they
/// are found as quickly as those that it names.
///
/// Reading takes no lock. There is room for the methods of several large services; calls of those beyond are slower, no
/// more.
#[derive(Debug, Default)]
pub(super) struct Learned {
    places: OnceLock<Box<[Place]>>,
}

/// Where the methods of one hash are.
type Place = [OnceLock<(Box<str>, Found)>; 4];

impl Learned {
    const PLACES: u16 = 64;

    /// The method of that path, which has that hash. If it is new, it is what `resolve` makes of it.
    #[inline(never)]
    pub(super) fn find(
        &self,
        path: &str,
        hash: u64,
        resolve: impl FnOnce() -> Option<Found>,
    ) -> Option<Found> {
        let places = self.places.get_or_init(|| (0..Self::PLACES).map(|_| Place::default()).collect());
        let place = usize::try_from(hash % u64::from(Self::PLACES)).ok();
        for slot in place.and_then(|place| places.get(place)).into_iter().flatten() {
            match slot.get() {
                Some((known, found)) if **known == *path => return Some(found.clone()),
                Some(_) => {}
                None => {
                    let found = resolve()?;
                    let found = Found { plan: Arc::new(found.plan.of_one_method()), ..found };
                    // If another call was quicker, this method is learned the next time.
                    let _taken = slot.set((path.into(), found.clone()));
                    return Some(found);
                }
            }
        }
        resolve()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::MethodKind;

    #[test]
    fn a_method_is_resolved_once_and_has_a_plan_of_its_own() {
        let (learned, entry) = (Learned::default(), Found::example());
        let first = learned.find("a.B/C", 7, || Some(entry.clone())).unwrap();
        assert!(entry.plan.usual.is_none() && first.plan.usual.is_some());
        let again = learned.find("a.B/C", 7, || unreachable!()).unwrap();
        assert!(Arc::ptr_eq(&first.plan, &again.plan));
        assert_eq!(again.kind, Some(MethodKind::Unary));
        let other = learned.find("a.B/D", 7, || Some(entry.clone())).unwrap();
        assert!(!Arc::ptr_eq(&first.plan, &other.plan));
    }

    #[test]
    fn what_the_table_does_not_have_is_asked_again() {
        let learned = Learned::default();
        assert!(learned.find("a.B/C", 7, || None).is_none());
        assert!(learned.find("a.B/C", 7, || Some(Found::example())).is_some());
    }

    #[test]
    fn a_method_without_a_place_is_resolved_each_time() {
        let (learned, entry) = (Learned::default(), Found::example());
        for path in ["a.B/1", "a.B/2", "a.B/3", "a.B/4"] {
            learned.find(path, 7, || Some(entry.clone()));
        }
        for _ in 0..2 {
            let last = learned.find("a.B/5", 7, || Some(entry.clone())).unwrap();
            assert!(Arc::ptr_eq(&last.plan, &entry.plan));
        }
        assert!(learned.find("a.B/5", 8, || Some(entry.clone())).unwrap().plan.usual.is_some());
    }
}
