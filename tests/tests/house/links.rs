//! Links of the pages that people read: what they lead to has to exist.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;

/// The repository as the web shows it: a page outside it, on docs.rs say, links to files under these.
const REPOSITORY: [&str; 3] = [
    "https://github.com/tonic-gax/tonic-gax/blob/main/",
    "https://github.com/tonic-gax/tonic-gax/tree/main/",
    "https://raw.githubusercontent.com/tonic-gax/tonic-gax/main/",
];

/// A Markdown page: where its links lead, and the places that a link can name.
pub(crate) struct Page {
    file: String,
    links: Vec<(usize, String)>,
    anchors: BTreeSet<String>,
}

impl Page {
    pub(crate) fn of(file: &str, text: &str) -> Self {
        let mut page = Self { file: file.to_owned(), links: Vec::new(), anchors: BTreeSet::new() };
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { link_type, dest_url, .. }) if link_type != LinkType::Email => {
                    page.links.push((line(text, range.start), dest_url.into_string()));
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    page.links.push((line(text, range.start), dest_url.into_string()));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let title = heading.take().unwrap_or_default();
                    page.anchors.insert(anchor(&title));
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let ids = html.split("id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
                    page.anchors.extend(ids.map(|(id, _)| id.to_owned()));
                }
                _ => {}
            }
        }
        page
    }

    /// The files that the page links to, by their paths in the repository.
    pub(crate) fn targets(&self) -> impl Iterator<Item = String> {
        self.links.iter().filter_map(|(_, link)| resolved(&self.file, link)).map(|(file, _)| file)
    }

    /// Links that lead nowhere. `read` gives a file's text, and an empty one for a folder.
    pub(crate) fn broken(&self, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        let mut broken = Vec::new();
        for (line, link) in &self.links {
            let Some((file, place)) = resolved(&self.file, link) else { continue };
            let leads = match read(&file) {
                None => false,
                Some(_) if place.is_empty() || file == self.file && self.anchors.contains(&place) => true,
                Some(text) => Page::of(&file, &text).anchors.contains(&place),
            };
            if !leads {
                broken.push(format!("{}:{line}: {link} leads nowhere", self.file));
            }
        }
        broken
    }

    /// Links that work in a clone only.
    pub(crate) fn relative(&self) -> Vec<String> {
        let relative = self.links.iter().filter(|(_, link)| !link.contains("://") && !link.starts_with('#'));
        relative.map(|(line, link)| format!("{}:{line}: {link} is a relative link", self.file)).collect()
    }
}

/// The file and the place in it that a link of a page means; none if it leads out of the repository.
fn resolved(from: &str, link: &str) -> Option<(String, String)> {
    let (target, place) = link.split_once('#').unwrap_or((link, ""));
    let file = match REPOSITORY.iter().find_map(|prefix| target.strip_prefix(prefix)) {
        Some(path) => path.to_owned(),
        None if target.contains(':') => return None,
        None if target.is_empty() => from.to_owned(),
        None => {
            let mut path: Vec<&str> = from.split('/').collect();
            path.pop();
            for part in target.split('/') {
                match part {
                    ".." => drop(path.pop()),
                    "." | "" => {}
                    part => path.push(part),
                }
            }
            path.join("/")
        }
    };
    Some((file, place.to_owned()))
}

/// The name of a heading's anchor, by mdbook and GitHub alike.
fn anchor(title: &str) -> String {
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    };
    title.trim().to_lowercase().chars().filter_map(kept).collect()
}

fn line(text: &str, at: usize) -> usize {
    1 + text.get(..at).map_or(0, |before| before.matches('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# A `b`: c, d\n\n[x](other.md#two) [y](#a-b-c-d)\n\n```\n[code](gone.md)\n```\n<a id=\"j1\"></a>\n";

    fn read(file: &str) -> Option<String> {
        match file {
            "docs/page.md" => Some(PAGE.to_owned()),
            "docs/other.md" => Some("## Two\n".to_owned()),
            "README.md" => Some("| a |\n| --- |\n| <a id=\"c1\"></a>C1 |\n".to_owned()),
            _ => None,
        }
    }

    fn broken(text: &str) -> Vec<String> {
        Page::of("docs/page.md", text).broken(&read)
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        assert!(broken(PAGE).is_empty());
        assert!(
            broken("[a](../README.md#c1) [b](./other.md) [c](https://example.com/#x) <a@b.c>").is_empty()
        );
        assert!(broken("[a](https://github.com/tonic-gax/tonic-gax/blob/main/README.md#c1)").is_empty());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        for (link, line) in [
            ("gone.md", 1),
            ("other.md#three", 1),
            ("../README.md#c2", 1),
            ("#nowhere", 1),
            ("https://github.com/tonic-gax/tonic-gax/blob/main/docs/gone.md", 1),
        ] {
            let found = broken(&format!("[a]({link})"));
            assert_eq!(found, [format!("docs/page.md:{line}: {link} leads nowhere")]);
        }
        assert_eq!(broken("a\n\n![p](gone.svg)\n"), ["docs/page.md:3: gone.svg leads nowhere"]);
    }
}
