#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod duration;
mod escaped;
mod grid;
mod grpc_timeout;
mod human;
mod suggest;

pub use duration::{DurationError, parse_duration, parse_nanos, time_text};
pub use escaped::{Escaped, is_unprintable};
pub use grid::{Align, Cell, Grid, Role};
pub use grpc_timeout::GrpcTimeout;
pub use human::Human;
pub use suggest::closest;

/// Makes a type an error, with a text made of its fields, or behind `self:` with a source, too. For the crates of this repository
/// alone.
#[doc(hidden)]
#[macro_export]
macro_rules! error_text {
    ($self:ident: $error:ident => $source:expr, $($text:tt)+) => {
        impl ::core::fmt::Display for $error {
            fn fmt(&$self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(f, $($text)+)
            }
        }

        impl ::core::error::Error for $error {
            fn source(&$self) -> Option<&(dyn ::core::error::Error + 'static)> {
                $source
            }
        }
    };
    ($error:ident { $($field:ident),* }, $($text:tt)+) => {
        impl ::core::fmt::Display for $error {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let Self { $($field,)* .. } = self;
                ::core::write!(f, $($text)+)
            }
        }

        impl ::core::error::Error for $error {}
    };
}

/// Getters of fields. `field: Type;` copies the field of that name; behind `self:`, `pub name: Type = self.field;` copies any, and
/// `pub name: &Type = &self.field;` borrows it. Behind `const self:` they are const, behind `move self:` they take `self` by value. For
/// the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! getters {
    (const $self:ident: $($(#[$doc:meta])* $vis:vis $name:ident: $kind:ty = $field:expr;)+) => {
        $($(#[$doc])*
        #[must_use]
        $vis const fn $name(&$self) -> $kind {
            $field
        })+
    };
    (move $self:ident: $($(#[$doc:meta])* $vis:vis $name:ident: $kind:ty = $field:expr;)+) => {
        $($(#[$doc])*
        #[must_use]
        $vis fn $name($self) -> $kind {
            $field
        })+
    };
    ($self:ident: $($(#[$doc:meta])* $vis:vis $name:ident: $kind:ty = $field:expr;)+) => {
        $($(#[$doc])*
        #[must_use]
        $vis fn $name(&$self) -> $kind {
            $field
        })+
    };
    ($($(#[$doc:meta])* $field:ident: $kind:ty;)+) => {
        $crate::getters! { self: $($(#[$doc])* pub $field: $kind = self.$field;)+ }
    };
}

/// Setters of builders, in the form `pub name(value: Type) => self.field = value;` behind `self:`, or behind `self.changed():`, which
/// is then called. Behind `const self:` they are const. For the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    (const $self:ident: $($(#[$doc:meta])* $vis:vis $name:ident($($value:ident: $kind:ty),+) => $set:expr;)+) => {
        $($(#[$doc])*
        $vis const fn $name(mut $self, $($value: $kind),+) -> Self {
            $set;
            $self
        })+
    };
    (
        $self:ident.$changed:ident():
        $($(#[$doc:meta])* $vis:vis $name:ident($($value:ident: $kind:ty),+) => $set:expr;)+
    ) => {
        $($(#[$doc])*
        $vis fn $name(mut $self, $($value: $kind),+) -> Self {
            $set;
            $self.$changed()
        })+
    };
    ($self:ident: $($(#[$doc:meta])* $vis:vis $name:ident($($value:ident: $kind:ty),+) => $set:expr;)+) => {
        $($(#[$doc])*
        $vis fn $name(mut $self, $($value: $kind),+) -> Self {
            $set;
            $self
        })+
    };
}

/// Makes a short `Debug`, of these of its contents and dots: `self: Name { field: self.field }`, with the generic parameters in brackets
/// before the name. For the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! short_debug {
    ($self:ident: $([$($generics:tt)+])? $kind:ident $(<$($arg:tt),+>)? { $($field:ident: $value:expr),* }) => {
        impl $(<$($generics)+>)? ::core::fmt::Debug for $kind $(<$($arg),+>)? {
            fn fmt(&$self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut text = f.debug_struct(::core::stringify!($kind));
                $(text.field(::core::stringify!($field), &$value);)*
                text.finish_non_exhaustive()
            }
        }
    };
}

/// Makes a `Debug` that leaves out what is `None`: `self: Name { field: self.field }`. For the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! set_debug {
    ($self:ident: $kind:ident { $($field:ident: $value:expr),* }) => {
        impl ::core::fmt::Debug for $kind {
            fn fmt(&$self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut text = f.debug_struct(::core::stringify!($kind));
                $(if let Some(value) = $value {
                    text.field(::core::stringify!($field), &value);
                })*
                text.finish()
            }
        }
    };
}

/// Gives the values of an enum their names: a function that returns them, `Display` and, if it is wanted, the list of
/// all values. For the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    (
        $(#[$list_doc:meta])* $list_vis:vis const ALL;
        $(#[$doc:meta])* $vis:vis fn $name:ident for $kind:ident { $($value:ident = $text:literal,)+ }
    ) => {
        impl $kind {
            $(#[$list_doc])*
            $list_vis const ALL: &'static [$kind] = &[$($kind::$value),+];
        }

        $crate::names! { $(#[$doc])* $vis fn $name for $kind { $($value = $text,)+ } }
    };
    ($(#[$doc:meta])* $vis:vis fn $name:ident for $kind:ident { $($value:ident = $text:literal,)+ }) => {
        impl $kind {
            $(#[$doc])*
            #[must_use]
            $vis const fn $name(self) -> &'static str {
                match self {
                    $($kind::$value => $text,)+
                }
            }
        }

        impl ::core::fmt::Display for $kind {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.$name())
            }
        }
    };
}

/// Reads a value by its name, from the type's `ALL` and `as_str` (or `Type::function`), and defines the error for any other text. For
/// the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! parsed_by_name {
    ($kind:ident, $($rest:tt)+) => {
        $crate::parsed_by_name! { $kind::as_str, $($rest)+ }
    };
    ($kind:ident::$name:ident, $error:ident, $problem:literal) => {
        impl ::core::str::FromStr for $kind {
            type Err = $error;

            fn from_str(text: &str) -> ::core::result::Result<Self, $error> {
                let known = Self::ALL.iter().copied().find(|known| known.$name() == text);
                known.ok_or_else(|| $error { text: text.to_owned() })
            }
        }

        #[doc = ::core::concat!("A text that isn't the name of a [`", ::core::stringify!($kind), "`].")]
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $error {
            text: String,
        }

        $crate::error_text! { $error { text }, "{text:?} {}", $problem }
    };
}
