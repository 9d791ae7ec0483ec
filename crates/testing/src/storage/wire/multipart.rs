//! Bodies of `multipart/related`.

use bytes::Bytes;

/// A part: its content type and its bytes.
pub(crate) type Part = (Option<String>, Bytes);

/// The two parts of an upload, metadata and media; `None`: it is no such body.
pub(crate) fn related_parts(content_type: &str, body: &Bytes) -> Option<(Part, Part)> {
    let boundary = content_type.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    })?;
    let delimiter = format!("--{boundary}");
    let begin = find(body, delimiter.as_bytes(), 0)? + delimiter.len();
    let delimiter = format!("\r\n--{boundary}");
    let middle = find(body, delimiter.as_bytes(), begin)?;
    let rest = middle + delimiter.len();
    let end = find(body, delimiter.as_bytes(), rest)?;
    Some((part(&body.slice(begin..middle))?, part(&body.slice(rest..end))?))
}

/// The part behind a delimiter.
fn part(bytes: &Bytes) -> Option<Part> {
    // The headers may be missing: then the empty line follows the delimiter's own line break.
    let head_end = find(bytes, b"\r\n\r\n", 0)?;
    let head = String::from_utf8_lossy(bytes.get(..head_end)?).into_owned();
    let content_type = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-type").then(|| value.trim().to_owned())
    });
    Some((content_type, bytes.slice(head_end + 4..)))
}

fn find(body: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let position = body.get(from..)?.windows(wanted.len()).position(|window| window == wanted)?;
    Some(from + position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_and_media_are_found() {
        let body = "--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\ncontent-type: text/plain\r\n\r\na\r\n\r\nb--b\r\n\r\n--b--";
        let (metadata, media) =
            related_parts("multipart/related; boundary=\"b\"", &Bytes::from(body)).unwrap();
        assert_eq!(metadata, (Some("application/json".to_owned()), Bytes::from("{}")));
        assert_eq!(media, (Some("text/plain".to_owned()), Bytes::from("a\r\n\r\nb--b\r\n")));
        let body = Bytes::from("--b\r\n\r\n{}\r\n--b\r\n\r\n\r\n--b--");
        let (metadata, media) = related_parts("multipart/related; boundary=b", &body).unwrap();
        assert_eq!((metadata, media), ((None, Bytes::from("{}")), (None, Bytes::new())));
    }

    #[test]
    fn what_is_cut_or_has_no_boundary_is_none() {
        let whole = Bytes::from("--b\r\n\r\n{}\r\n--b\r\n\r\nab\r\n--b--");
        assert_eq!(related_parts("text/plain", &whole), None);
        for end in 0..whole.len() - 2 {
            assert_eq!(related_parts("multipart/related; boundary=b", &whole.slice(..end)), None, "{end}");
        }
    }
}
