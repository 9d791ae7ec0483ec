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

/// The instructions of one call, and the code that it fetches.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain pair of numbers")]
pub struct Counts {
    /// Instructions.
    pub instructions: f64,
    /// Lines of 64 bytes of code that are not in a first cache of 32 KiB any more.
    pub fetched: f64,
}

/// What one call in a lane takes: the difference between two runs of this program, so that what surrounds the calls falls out. `None`
/// where valgrind can't be run.
#[must_use]
pub fn count(lane: usize) -> Option<Counts> {
    const FEW: u32 = 200;
    const MANY: u32 = 1200;
    let few = collected(Counted { lane, calls: FEW })?;
    let many = collected(Counted { lane, calls: MANY })?;
    let each = |few: f64, many: f64| (many - few) / f64::from(MANY - FEW);
    Some(Counts {
        instructions: each(few.instructions, many.instructions),
        fetched: each(few.fetched, many.fetched),
    })
}

fn collected(counted: Counted) -> Option<Counts> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cachegrind-out-file=/dev/null", "--cache-sim=yes"])
        .args(["--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,8,64"])
        .arg(std::env::current_exe().ok()?)
        .env(VARIABLE, format!("{}:{}", counted.lane, counted.calls))
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr);
    let figure = |name: [&str; 2]| {
        let mut words = text.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
        let line = words.find(|line| line.starts_with(&name))?;
        line.get(2)?.replace(',', "").parse().ok()
    };
    Some(Counts { instructions: figure(["I", "refs:"])?, fetched: figure(["I1", "misses:"])? })
}
