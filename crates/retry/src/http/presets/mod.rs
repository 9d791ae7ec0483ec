//! Named configurations that retry as documents, tools and client libraries do.
//!
//! | name | what it is | waits before retries | gives up |
//! | --- | --- | --- | --- |
//! | `storage` | the default for Cloud Storage | min(2^n s + 0..1000 ms, 64 s) | 600 s |
//! | `docs`, `docs-32` | the documents' formula, cap 64 or 32 s | min(2^n s + 0..1000 ms, cap) | 600 s |
//! | `docs-legacy` | the older documents | as `docs` | 600 s |
//! | `memorystore-doc` | the Memorystore document | as `docs` | 600 s |
//! | `memorystore` | Memorystore's service config | none | 1 attempt |
//! | `python-doc` | the document's Python tab | uniform(0, min(2^n, 60)) s | 120 s |
//! | `python` | google-cloud-storage 3.17.1 | the same | the same |
//! | `python-media-2` | media up to 2.x | min(2^n, 64) s + 0..1000 ms | 600 s of waits |
//! | `node` | @google-cloud/storage 7.22.0 | min(2^n s + 0..999 ms, 64 s), n from 1 | 3 retries, 600 s |
//! | `node-upload` | its resumable uploads | the same, n from 0 | the same |
//! | `node-upload-session` | its uploads in one piece, and the start of resumable ones | uniform(2^n, 2^(n+1)) s, to 64 s | the same |
//! | `java-storage`, `java-storage-uniform` | google-cloud-storage 2.74.0 | previous x 2 x \[1, 2), to 32 s | 6 attempts, 50 s |
//! | `go` | cloud.google.com/go/storage 1.70.0 | uniform(0, min(2^n, 30)) s | the caller's timeout |
//! | `gsutil-doc` | gsutil as documented | uniform(0, min(2^n, 60)) s | 23 retries |
//! | `gsutil` | gsutil 5.38, JSON API | min(2^n s ± 25 %, 32 s), n from 1 | 23 attempts |
//! | `gsutil-xml` | gsutil 5.38, XML API | min(uniform(0, 2^n), 60) s | 23 retries |
//! | `gax-node` | google-gax 5.0.8 | uniform(0, min(100 ms x 1.3^n, 60 s)) | 600 s |
//! | `cpp`, `cpp-strict` | the C++ library | uniform(2^n, 2^(n+1)) s, to 5 min | 15 min |
//! | `csharp` | the C# library | min(2^n, 32) s | 3 attempts |
//! | `php` | the PHP library | min(2^n s + 0..1 s, 60 s) | 3 retries |
//! | `ruby` | the Ruby library | min(2^n, 60) s ± 50 % | 3 retries, 900 s |
//! | `rust` | google-cloud-rust | uniform(0, min(2^n, 60)) s | 300 s |
//!
//! If a document and the current library differ, there is a preset for each, and the name with `doc` is the
//! document's. Random numbers come from the [`JitterSource`](crate::jitter::JitterSource), so the same numbers lead
//! to the library's waits.
//!
//! # Examples
//!
//! ```
//! use gax_retry::http::{HttpFailure, presets};
//!
//! let gsutil = presets::named("gsutil")?;
//! assert!(gsutil.retries(HttpFailure::Status(503)));
//! assert!(!gsutil.retries(HttpFailure::Status(408)));
//! # Ok::<(), gax_retry::http::UnknownPresetError>(())
//! ```

mod boto;
mod catalog;
mod documents;
mod gsutil;
mod libraries;
mod node;
mod preset;
mod python;
#[cfg(test)]
mod tests;

pub use boto::{BotoConfig, BotoError};
pub use catalog::{UnknownPresetError, all, named, names};
pub use documents::{docs, docs_32, docs_legacy, memorystore, memorystore_doc, storage};
pub use gsutil::{gsutil, gsutil_doc, gsutil_xml};
pub use libraries::{
    cpp, cpp_strict, csharp, gax_node, go, java_storage, java_storage_uniform, php, ruby, rust,
};
pub use node::{NodeRetryOptions, node, node_upload, node_upload_session};
pub use preset::Preset;
pub use python::{
    python, python_default_retry, python_default_retry_if_etag_in_json,
    python_default_retry_if_generation_specified, python_default_retry_if_metageneration_specified,
    python_doc, python_media_2,
};
