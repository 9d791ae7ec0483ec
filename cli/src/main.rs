//! The `gax` command.

fn main() {}
