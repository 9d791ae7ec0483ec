//! The demo for programs.

use super::scene::Scene;
use super::stage::{Played, Seen};
use crate::render::Timeline;
use gax_retry::Code;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Demo {
    pub(super) address: String,
    pub(super) seed: u64,
    pub(super) scenes: Vec<Shown>,
}

#[derive(Serialize)]
pub(super) struct Shown {
    title: &'static str,
    method: String,
    server: Vec<Seen>,
    #[serde(flatten)]
    report: Timeline,
    code: Code,
    message: Option<String>,
}

impl Shown {
    pub(super) fn of(scene: &Scene, played: Played) -> Self {
        Self {
            title: scene.title,
            method: played.report.method().to_owned(),
            report: Timeline::from(&played.report),
            code: played.code(),
            message: played.error.as_ref().map(|status| status.message().to_owned()),
            server: played.seen,
        }
    }
}
