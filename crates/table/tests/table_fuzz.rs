//! Damaged tables: whatever is done to the files in `tests/tables`, readers give a table or an error.

#![cfg(feature = "json")]

use gax_table::lint::Linter;
use gax_table::{ConversionTarget, Dialect, RetryTable};
use proptest::prelude::*;
use std::path::Path;

/// The seeds, in the order of their names.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let files = std::fs::read_dir(folder).expect("the seeds are there");
    let mut seeds: Vec<_> = files
        .map(|file| {
            let path = file.expect("the folder can be read").path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (name.unwrap_or_default(), std::fs::read(&path).expect("a seed can be read"))
        })
        .collect();
    seeds.sort();
    seeds
}

/// Reads a text in every dialect and does with the table all that can be done.
fn use_up(content: &[u8]) {
    for dialect in Dialect::ALL {
        match RetryTable::reader().dialect(*dialect).file_name("seed").read(content) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(table) => {
                for finding in table.findings().iter().chain(&Linter::new().run(&table)) {
                    assert!(!finding.to_string().is_empty());
                }
                for name in table.names() {
                    let policy = table.lookup(name.service(), name.method().unwrap_or("Any"));
                    assert!(policy.is_none_or(|policy| !policy.codes_key().is_empty()));
                }
                for target in ConversionTarget::ALL {
                    let conversion = table.convert(*target);
                    assert!(conversion.findings().iter().all(|finding| !finding.to_string().is_empty()));
                }
            }
        }
    }
}

#[test]
fn every_seed_is_read_whole_as_written() {
    for (name, content) in seeds() {
        let needs_feature = match name.rsplit_once('.') {
            Some((_, "yaml")) => !cfg!(feature = "yaml"),
            Some((_, "toml")) => !cfg!(feature = "toml"),
            _ => false,
        };
        let table = RetryTable::reader().file_name(&name).read(&content);
        assert!(table.is_ok() != needs_feature, "{name}: {table:?}");
        use_up(&content);
    }
    assert_eq!(seeds().len(), 8);
}

proptest! {
    /// Pieces cut out, doubled, moved between seeds, and single bytes replaced.
    #[test]
    fn no_damage_makes_a_reader_panic(
        seed in 0..8_usize,
        other in 0..8_usize,
        cuts in proptest::collection::vec((any::<u16>(), 0..64_usize, any::<u16>(), 0..32_usize), 1..4),
        bytes in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..3),
    ) {
        let seeds = seeds();
        let (_, mut text) = seeds[seed].clone();
        let (_, donor) = &seeds[other];
        for (at, length, from, taken) in cuts {
            let at = usize::from(at) % (text.len() + 1);
            let end = (at + length).min(text.len());
            let from = usize::from(from) % (donor.len() + 1);
            let piece = &donor[from..(from + taken).min(donor.len())];
            text.splice(at..end, piece.iter().copied());
        }
        for (at, byte) in bytes {
            let at = usize::from(at) % text.len().max(1);
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
        }
        use_up(&text);
    }
}
