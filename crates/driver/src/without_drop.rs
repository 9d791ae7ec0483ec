//! Values that are put if nothing was.

/// Puts a value into a slot that holds nothing, without the call that drops what was there: the compiler can't see that there is
/// nothing to drop (bench `speed`, instructions). Anything else in the slot would leak, so that `holds_nothing` says of it what it
/// may be, and is asked in debug builds.
#[inline]
pub fn put_without_drop<T>(slot: &mut T, value: T, holds_nothing: impl FnOnce(&T) -> bool) {
    debug_assert!(holds_nothing(slot), "there is something in the slot, and it would leak");
    std::mem::forget(std::mem::replace(slot, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_put_where_nothing_was() {
        let mut slot = None;
        put_without_drop(&mut slot, Some("value".to_owned()), Option::is_none);
        assert_eq!(slot.as_deref(), Some("value"));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic = "it would leak"]
    fn a_value_is_not_put_over_another() {
        put_without_drop(&mut Some("old".to_owned()), None, Option::is_none);
    }
}
