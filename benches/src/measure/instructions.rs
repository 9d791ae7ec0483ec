//! Instructions, counted by valgrind where it is installed: they are the same in every run.

use std::process::{Command, Stdio};

const VARIABLE: &str = "TONIC_GAX_BENCH_COUNT";

/// The task of a process under valgrind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain pair of numbers")]
pub struct Counted {
    /// Whose calls.
    pub lane: usize,
    /// How many.
    pub calls: u32,
}

impl Counted {
    /// The task of this process, if it runs under valgrind.
    #[must_use]
    pub fn asked() -> Option<Self> {
        let asked = std::env::var(VARIABLE).ok()?;
        let (lane, calls) = asked.split_once(':')?;
        Some(Self { lane: lane.parse().ok()?, calls: calls.parse().ok()? })
    }
}

/// The instructions of one call in a lane: the difference between two runs of this program, so that what
/// surrounds the calls falls out. `None` where valgrind can't be run.
#[must_use]
pub fn count(lane: usize) -> Option<f64> {
    const FEW: u32 = 200;
    const MANY: u32 = 1200;
    let few = collected(Counted { lane, calls: FEW })?;
    let many = collected(Counted { lane, calls: MANY })?;
    Some((many - few) / f64::from(MANY - FEW))
}

fn collected(counted: Counted) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .env(VARIABLE, format!("{}:{}", counted.lane, counted.calls))
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.split_whitespace().last()?.parse().ok()
}
