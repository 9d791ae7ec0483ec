//! Bytes of strangers: the fuzz targets of `fuzz/`, which has a workspace of its own, with their corpora.

mod corpora;
#[path = "../../../../fuzz/src/targets/mod.rs"]
mod targets;
