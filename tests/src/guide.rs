//! The guide's pages, so that their examples are compiled and run with the documentation tests.

include!(concat!(env!("OUT_DIR"), "/guide.rs"));
