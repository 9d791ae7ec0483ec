//! Services below which nothing looks into a request's extensions.

use std::any::TypeId;
use std::sync::OnceLock;

/// The connection of our own, if this process has made one.
static CONNECTION: OnceLock<TypeId> = OnceLock::new();

/// From now on there are connections of that type.
pub fn set_bare<S: 'static>() {
    CONNECTION.get_or_init(TypeId::of::<S>);
}

/// Whether a service is such a connection.
#[inline]
pub fn is_bare<S: 'static>() -> bool {
    CONNECTION.get() == Some(&TypeId::of::<S>())
}
