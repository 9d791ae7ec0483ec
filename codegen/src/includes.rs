//! Where protos are looked for.

use gax_table::input::open_file;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A compiler that looks for protos below these directories, and knows those that come with protobuf.
pub(crate) fn compiler(includes: &[impl AsRef<Path>]) -> Compiler {
    let mut chain = ChainFileResolver::new();
    for include in includes {
        let directory = include.as_ref().to_owned();
        chain.add(Include { protox: IncludeFileResolver::new(directory.clone()), directory });
    }
    chain.add(GoogleFileResolver::new());
    Compiler::with_file_resolver(chain)
}

/// A directory of protos. What is not a regular file, or is too long, is refused.
struct Include {
    directory: PathBuf,
    protox: IncludeFileResolver,
}

impl FileResolver for Include {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        self.protox.resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let path = self.directory.join(name);
        match open_file(&path) {
            // A folder's copy of protobuf's own protos may be in the syntax of a later protoc.
            Ok(_) => self.protox.open_file(name).or_else(|error| {
                let built_in = GoogleFileResolver::new().open_file(name);
                built_in.map_err(|_| error)
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(protox::Error::file_not_found(name)),
            Err(error) => {
                let message = format!("can't read the proto {}: {error}", path.display());
                Err(protox::Error::new(Unreadable(message)))
            }
        }
    }
}

/// Why a proto can't be read. protox prints the debug form.
struct Unreadable(String);

gax_text::error_text! { self: Unreadable => None, "{}", self.0 }

impl fmt::Debug for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_protobufs_own_protos_that_is_not_understood_is_not_needed() {
        let folder = std::env::temp_dir().join(format!("gax_includes_{}", std::process::id()));
        let own = folder.join("google/protobuf");
        std::fs::create_dir_all(&own).unwrap();
        let later = "syntax = 'proto2'; message M { extensions 5 [declaration = { number: 5 }]; }";
        std::fs::write(own.join("descriptor.proto"), later).unwrap();
        std::fs::write(own.join("other.proto"), later).unwrap();
        let import = "syntax = 'proto3'; import 'google/protobuf/descriptor.proto';";
        std::fs::write(folder.join("m.proto"), import).unwrap();
        compiler(&[&folder]).open_file("m.proto").unwrap();
        assert!(compiler(&[&folder]).open_file("google/protobuf/other.proto").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
