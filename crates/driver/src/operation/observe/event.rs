//! Events of attempts that only some transports have.

use std::any::Any;
use std::fmt;

/// Something that has happened to an attempt, which prints as one line: any type can be one.
///
/// # Examples
///
/// ```
/// use gax_driver::observe::{Event, Peer};
///
/// fn address(event: &dyn Event) -> Option<&str> {
///     event.downcast_ref::<Peer>().map(Peer::as_str)
/// }
/// ```
pub trait Event: Any + fmt::Debug + fmt::Display {}

impl<T: Any + fmt::Debug + fmt::Display> Event for T {}

impl dyn Event {
    /// The event, if it is of that type.
    #[must_use]
    pub fn downcast_ref<T: Event>(&self) -> Option<&T> {
        let event: &dyn Any = self;
        event.downcast_ref()
    }
}
