//! Text that people write and read, without dependencies: the parts of tonic-gax that know nothing about retries.
//!
//! ```
//! use gax_text::{Align, Cell, Escaped, Grid, Human, closest, parse_duration};
//! use std::time::Duration;
//!
//! assert_eq!(parse_duration("1h30m")?, Duration::from_secs(5400));
//! assert_eq!(Human(Duration::from_millis(1500)).to_string(), "1.5 s");
//! assert_eq!(closest("ListBook", ["ListBooks", "GetBook"]), Some("ListBooks"));
//! assert_eq!(Escaped("a\u{1b}[31m").to_string(), r"a\u{1b}[31m");
//!
//! let mut grid = Grid::new([("attempt", Align::Right), ("code", Align::Left)]);
//! grid.push([Cell::from(1), Cell::from("UNAVAILABLE")]);
//! assert_eq!(grid.to_string(), "attempt | code\n--------+------------\n      1 | UNAVAILABLE\n");
//! # Ok::<(), gax_text::DurationError>(())
//! ```
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

/// Makes a type an error, with a text made of its fields. For the crates of this repository alone.
#[doc(hidden)]
#[macro_export]
macro_rules! error_text {
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
