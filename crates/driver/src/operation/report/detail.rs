//! The part of a report that only one transport has.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value of the transport's own, which prints as one line of the report.
#[derive(Clone)]
pub(super) struct Detail(Arc<dyn AnyDetail>);

/// The traits that a report needs of such a value.
trait AnyDetail: Any + fmt::Debug + fmt::Display + Send + Sync {
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq + fmt::Debug + fmt::Display + Send + Sync> AnyDetail for T {
    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl Detail {
    pub(super) fn new<T: Any + PartialEq + fmt::Debug + fmt::Display + Send + Sync>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// The value, if it is of that type.
    pub(super) fn get<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }
}

impl PartialEq for Detail {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(&*other.0)
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_what_it_was_made_of() {
        let detail = Detail::new("once".to_owned());
        assert_eq!(detail.get::<String>().map(String::as_str), Some("once"));
        assert_eq!(detail.get::<u32>(), None);
        assert_eq!((detail.to_string(), format!("{detail:?}")), ("once".to_owned(), "\"once\"".to_owned()));
        assert_eq!(detail, Detail::new("once".to_owned()));
        assert_ne!(detail, Detail::new("twice".to_owned()));
        assert_ne!(detail, Detail::new(1));
    }
}
