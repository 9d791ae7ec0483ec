//! The list of targets.

use super::{delays, downloads, inbound, paths, rest, serving, states, tables, uploads};

/// Plays bytes of a stranger, and panics if a promise is broken.
pub(crate) type Target = fn(&[u8]);

/// Each target by its name, which is that of its corpus too.
pub(crate) const TARGETS: [(&str, Target); 14] = [
    ("download_replies", downloads::replies),
    ("download_states", states::downloads),
    ("frames", serving::frames),
    ("gzip", rest::gzip),
    ("inbound_timeouts", inbound::timeouts),
    ("json_errors", delays::json_errors),
    ("json_streams", rest::streams),
    ("path_templates", paths::templates),
    ("retry_after", delays::retry_after),
    ("scripts", serving::scripts),
    ("tables", tables::tables),
    ("trailers", delays::trailers),
    ("upload_replies", uploads::replies),
    ("upload_states", states::uploads),
];
