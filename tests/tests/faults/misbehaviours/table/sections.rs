//! The sections, in the order of the page.

use super::calls::{machine, replies, streams, tokens};
use super::connections::{disorderly, limits, orderly, resolvers};
use super::http::{downloads, proxies, uploads};
use crate::faults::misbehaviours::row::Section;

pub(crate) fn sections() -> Vec<Section> {
    vec![
        orderly(),
        disorderly(),
        limits(),
        resolvers(),
        proxies(),
        uploads(),
        downloads(),
        streams(),
        tokens(),
        replies(),
        machine(),
    ]
}
