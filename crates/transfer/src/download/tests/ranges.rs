//! Ranges at once.

use super::server::{Act, TEXT, download, read, requests, server};
use crate::checksum::{Checksums, Hasher};
use crate::download::file::PartialFile;
use crate::download::sink::hash_part;
use crate::tests::Folder;
use http::header::ETAG;
use std::sync::Mutex;

#[tokio::test(start_paused = true)]
async fn ranges_at_once_are_one_file() {
    let folder = Folder::new();
    let path = folder.file("a");
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
        let (server, client) = server([(5, Act::Cut(1)), (8, Act::All), (2, Act::Earlier(1))]);
        let known = Mutex::new((0, None));
        let download = download().checksums(checksums).parallel(3, 2).on_progress(|progress| {
            *known.lock().unwrap() = (progress.bytes(), progress.total());
        });
        let downloaded = download.to_file(&client, &path).await.unwrap();
        assert_eq!(read(&path), TEXT);
        assert_eq!((downloaded.bytes(), downloaded.resumptions()), (10, 1));
        assert_eq!((downloaded.range_reports().len(), downloaded.generation()), (3, Some(1)));
        assert_eq!(downloaded.is_verified(), checksums != Checksums::NONE);
        let mut whole = Hasher::new(checksums);
        whole.update(TEXT);
        assert_eq!((downloaded.crc32c(), downloaded.md5()), (whole.sums().crc32c, whole.sums().md5));
        drop(downloaded);
        assert_eq!(*known.lock().unwrap(), (10, Some(10)));
        let mut requests = requests(&server);
        requests.sort_unstable();
        let ranges = ["2-4", "5-7", "6-7", "8-9"].map(|range| format!("&generation=1 bytes={range} \"1\""));
        assert_eq!((&requests[..4], &*requests[4]), (&ranges[..], "bytes=0-1 -"));
    }
    // The first range has 256 KiB at most.
    let (long, client) = server([]);
    long.lock().unwrap().content = vec![7; 300_000].into();
    download().parallel(2, 280_000).to_file(&client, &path).await.unwrap();
    assert_eq!(requests(&long), ["bytes=0-262143 -", "&generation=1 bytes=262144-299999 \"1\""]);
    // Without ranges, and without more than the first, one request is enough.
    for (act, least) in [(Some(Act::All), 2), (Some(Act::All), 10), (None, 10), (None, 11)] {
        let (server, client) = server(act.map(|act| (0, act)).into_iter().collect::<Vec<_>>());
        let downloaded = download().parallel(3, least).to_file(&client, &path).await.unwrap();
        assert_eq!((downloaded.is_verified(), requests(&server).len()), (true, 1), "{least}");
        assert_eq!(read(&path), TEXT);
    }
    // A server that knows no ranges and names no lengths has sent all of it with its first response.
    let (one, client) = server([(0, Act::All)]);
    one.lock().unwrap().has_length = false;
    download().parallel(3, 2).to_file(&client, &path).await.unwrap();
    assert_eq!((&*read(&path), requests(&one).len()), (TEXT, 1));
    // A length that is not known is found at the end.
    let (endless, client) = server([(0, Act::Endless)]);
    let downloaded = download().parallel(3, 2).to_file(&client, &path).await.unwrap();
    assert_eq!((downloaded.bytes(), downloaded.is_verified(), requests(&endless).len()), (10, true, 2));
    assert_eq!((&*read(&path), downloaded.range_reports().len()), (TEXT, 1));
    // Nothing of an object that was replaced is said of the one that was received.
    let (_, client) = server([(0, Act::Endless), (2, Act::Replaced(b"another"))]);
    let downloaded = download().parallel(3, 2).to_file(&client, &path).await.unwrap();
    assert_eq!((&*read(&path), downloaded.bytes()), (&b"another"[..], 7));
    assert_eq!((downloaded.generation(), downloaded.is_verified()), (Some(2), true));
    assert_eq!(downloaded.response().headers()[ETAG], "\"2\"");
}

/// A range is read in pieces, the last of which ends where the range does.
#[tokio::test]
async fn a_range_of_a_longer_file_is_hashed() {
    let folder = Folder::new();
    let file = PartialFile::open(&folder.file("a"), false).await.unwrap();
    let content: Vec<u8> = (0..200_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    std::fs::write(folder.file("a.gax-part"), &content).unwrap();
    let hasher = hash_part(&file.part, 10, Checksums::CRC32C, 100_000).await.unwrap();
    let mut expected = Hasher::new(Checksums::CRC32C);
    expected.update(&content[10..100_010]);
    assert_eq!((hasher.bytes(), hasher.sums()), (100_000, expected.sums()));
}
