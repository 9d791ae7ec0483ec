//! State files of transfers.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::canned::{Canned, timed};
use super::downloads::{LENGTH, URL, bytes, client, honest};
use super::uploads::{Server, upload};
use bytes::Bytes;
use gax_transfer::Download;
use http::{HeaderValue, Request};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("gax-states-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Writes a file that nobody else can write.
    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The state of an upload to an honest server, which knows nothing of it. One that succeeds is there, whole, and leaves no file.
pub(super) fn uploads(data: &[u8]) {
    let folder = Folder::new();
    let state = folder.write("state", data);
    let (server, content) = (Arc::new(Mutex::new(Server::default())), Bytes::from(bytes(false, 0..LENGTH)));
    let path = state.clone();
    if upload(&server, |upload| upload.single_request_below(0).state_file(path), &content) {
        assert_eq!(server.lock().unwrap().received, content);
        assert!(!state.exists());
    }
}

/// The state of a download, and behind a zero byte what it has received. One that succeeds has the object's bytes, unless it
/// says that no checksum was compared, and leaves no other file.
pub(super) fn downloads(data: &[u8]) {
    let folder = Folder::new();
    let mut parts = data.splitn(2, |byte| *byte == 0);
    folder.write("o.gax-state", parts.next().unwrap_or_default());
    folder.write("o.gax-part", parts.next().unwrap_or_default());
    let service = Canned::new(|request, _| {
        let mut reply = honest(request);
        // The CRC32C of the object.
        reply.headers_mut().insert("x-goog-hash", HeaderValue::from_static("crc32c=M33cOg=="));
        reply
    });
    let request = Request::get(URL).body(()).unwrap();
    let target = folder.0.join("o");
    let (result, _) = timed(Download::new(request).resumable().to_file(&client(service), target.clone()));
    match result {
        Ok(downloaded) => {
            let is_object = std::fs::read(target).unwrap() == bytes(false, 0..LENGTH);
            assert!(is_object || !downloaded.is_verified());
            assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
        }
        Err(error) => assert!(!target.exists(), "{error}"),
    }
}
