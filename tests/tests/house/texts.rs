//! Files of the repository that people read and write.

use crate::repository;
use std::fs;
use std::path::Path;

/// The files below a folder whose names end so, and their text.
pub(crate) fn texts(folder: &str, ends: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    read(&repository(), folder, ends, &mut found);
    found
}

fn read(root: &Path, folder: &str, ends: &[&str], found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let file = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read(root, &file, ends, found);
        } else if ends.iter().any(|end| file.ends_with(end)) {
            found.push((file.clone(), fs::read_to_string(root.join(&file)).unwrap_or_default()));
        }
    }
}
