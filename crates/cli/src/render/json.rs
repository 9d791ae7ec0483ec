//! Data for programs.

use gax_text::is_unprintable;
use serde::{Serialize, Serializer};
use serde_json::ser::{Formatter, Serializer as JsonSerializer};
use std::io::{self, Write};

/// Writes data as JSON, and a line break. What a terminal would act on is escaped: it is in strings only.
pub(crate) fn write_json(
    mut out: &mut dyn Write,
    value: &impl Serialize,
    formatter: impl Formatter,
) -> io::Result<()> {
    value.serialize(&mut JsonSerializer::with_formatter(&mut out, Printable(formatter)))?;
    out.write_all(b"\n")
}

/// An object whose members keep their order.
#[derive(Debug, Clone)]
pub(crate) struct Ordered<K, T>(pub(crate) Vec<(K, T)>);

impl<K: Serialize, T: Serialize> Serialize for Ordered<K, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Escapes in strings what serde leaves as it is.
struct Printable<F>(F);

/// Methods that do as the inner formatter does.
macro_rules! as_inner {
    ($($method:ident($($argument:ident: $kind:ty)?)),* $(,)?) => {
        $(fn $method<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $kind)?) -> io::Result<()> {
            self.0.$method(out $(, $argument)?)
        })*
    };
}

impl<F: Formatter> Formatter for Printable<F> {
    as_inner!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
    );

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        for part in fragment.split_inclusive(is_unprintable) {
            let last = part.chars().next_back().filter(|c| is_unprintable(*c));
            out.write_all(part.strip_suffix(is_unprintable).unwrap_or(part).as_bytes())?;
            if let Some(c) = last {
                // All of these have four digits at most.
                write!(out, "\\u{:04x}", u32::from(c))?;
            }
        }
        Ok(())
    }
}
