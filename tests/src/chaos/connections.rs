//! How the connections of a run are made.

use super::Draw;
use std::time::Duration;

/// How connecting goes, one connection after the other; those that follow are made at once.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RandomConnections {
    /// The first of them.
    pub steps: Vec<Connecting>,
    /// When a channel gives up one that is not made.
    pub connect_timeout: Duration,
}

/// The outcome of trying to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Connecting {
    /// A connection to the server, after that time.
    Made(Duration),
    /// An error, after that time.
    Refused(Duration),
    /// Nothing, ever.
    Stalled,
    /// A connection on which nobody says a word.
    Silent,
    /// A connection that is closed at once.
    Closed,
}

/// The connect timeout of the crate's own channels, and the longest that is drawn.
const LONGEST: Duration = Duration::from_secs(20);

impl RandomConnections {
    /// Draws them: in most runs each is made at once.
    #[must_use]
    pub fn draw(draw: &mut Draw) -> Self {
        let count = draw.sometimes(25, |draw| draw.between(1, 6)).unwrap_or_default();
        Self {
            steps: (0..count).map(|_| Connecting::draw(draw)).collect(),
            connect_timeout: draw.pick(&[Duration::from_millis(300), LONGEST, LONGEST]),
        }
    }

    /// Returns whether each connection is made at once.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        self.steps.iter().all(|step| *step == Connecting::Made(Duration::ZERO))
    }
}

impl Connecting {
    fn draw(draw: &mut Draw) -> Self {
        let after = |draw: &mut Draw| if draw.percent(50) { Duration::ZERO } else { draw.ms(1, 2000) };
        match draw.below(10) {
            0..=2 => Self::Made(after(draw)),
            3..=5 => Self::Refused(after(draw)),
            6 | 7 => Self::Stalled,
            8 => Self::Silent,
            _ => Self::Closed,
        }
    }
}
