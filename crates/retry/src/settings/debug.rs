//! The debug forms of settings: short, without what is not set.

use std::fmt::{Debug, DebugStruct, Formatter, Result};

/// Writes a struct field by field, as far as the fields are set.
pub(super) struct SetFields<'a, 'f>(DebugStruct<'a, 'f>);

impl<'a, 'f> SetFields<'a, 'f> {
    pub(super) fn of(f: &'a mut Formatter<'f>, name: &str) -> Self {
        Self(f.debug_struct(name))
    }

    pub(super) fn field(mut self, name: &str, value: Option<impl Debug>) -> Self {
        if let Some(value) = value {
            self.0.field(name, &value);
        }
        self
    }

    pub(super) fn finish(mut self) -> Result {
        self.0.finish()
    }
}
