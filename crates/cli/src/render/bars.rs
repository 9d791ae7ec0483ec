//! Attempts that overlap, drawn in text.

use super::milliseconds::Ms;
use super::table::width;
use super::timeline::Timeline;
use gax_retry::Code;
use std::fmt::Write as _;
use std::time::Duration;

/// How many characters the whole operation takes, where the terminal has room for them.
const WIDTH: usize = 48;
/// The room for numbers and codes next to it.
const BESIDE: usize = 24;

/// A line for each attempt, from its start to its end; `None` if attempts only follow each other, which their table shows as
/// well, or if one never ends.
pub(crate) fn bars(timeline: &Timeline) -> Option<String> {
    let room = width().map_or(WIDTH, |columns| columns.saturating_sub(BESIDE));
    bars_in(timeline, room.clamp(WIDTH / 3, WIDTH))
}

fn bars_in(timeline: &Timeline, width: usize) -> Option<String> {
    let end = timeline.end_ms.filter(|end| !end.0.is_zero())?;
    let rows = &timeline.attempts;
    let overlap = rows.windows(2).any(|pair| match pair {
        [one, next] => one.end_ms.is_none_or(|end| end > next.start_ms),
        _ => false,
    });
    if !overlap {
        return None;
    }
    let numbers = rows.last().map_or(1, |row| row.attempt.to_string().len());
    let mut text = String::new();
    for row in rows {
        let (Some(ends), Some(code)) = (row.end_ms, row.code) else { return None };
        let (start, stop) = (place(row.start_ms, end, width), place(ends, end, width));
        let tip = tip(code);
        let bar = format!("{}|{}{tip}", " ".repeat(start), "-".repeat(stop.saturating_sub(start + 2)));
        let _infallible = writeln!(text, "  {:>numbers$}  {bar:<width$}  {code}", row.attempt);
    }
    let end = end.to_string();
    let axis = format!("{:<width$}{end}", "0", width = width.saturating_sub(end.len()));
    let _infallible = writeln!(text, "  {:>numbers$}  {axis}", "");
    Some(text)
}

/// An attempt that was cancelled is cut off, and one that brought the reply continues to the caller.
fn tip(code: Code) -> char {
    match code {
        Code::Cancelled => 'x',
        Code::Ok => '>',
        _ => '|',
    }
}

/// Where a time is drawn, of an operation that takes so long and is drawn so wide.
fn place(Ms(time): Ms, Ms(whole): Ms, width: usize) -> usize {
    let of = |time: Duration| time.as_nanos();
    let nearest = (of(time) * width as u128 + of(whole) / 2) / of(whole).max(1);
    usize::try_from(nearest).unwrap_or(width).min(width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{AttemptPlan, Compatibility, Hedging, NoJitter, Policy, Response, RetrySettings};

    const MS: Duration = Duration::from_millis(1);

    fn drawn(hedging: Option<Hedging>, responses: &[Response]) -> Option<String> {
        let settings = RetrySettings::builder().total_timeout(1000 * MS).initial_retry_delay(100 * MS);
        let settings = settings.max_attempts(3).build().unwrap();
        let policy = Policy::with_compatibility(&settings, [Code::Unavailable], Compatibility::Documented);
        let plan = AttemptPlan::new(&policy.with_hedging(hedging), responses, &mut NoJitter);
        bars_in(&Timeline::from(&plan), WIDTH)
    }

    #[test]
    fn attempts_that_overlap_are_drawn_to_scale() {
        let hedging = Hedging::new(3).delay(300 * MS).non_fatal_codes([Code::Unavailable]);
        let responses = [1900, 400].map(|after| Response::after(after * MS, Code::Ok));
        let expected = [
            "  1  |----------------------------------------------x  CANCELLED",
            "  2                       |------------------------->  OK",
            "  3                                           |-----x  CANCELLED",
            "     0                                         700 ms",
        ];
        let drawn = drawn(Some(hedging), &responses).unwrap();
        assert_eq!(drawn.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn attempts_that_follow_each_other_are_not() {
        let responses = [Response::after(100 * MS, Code::Unavailable), Response::after(400 * MS, Code::Ok)];
        assert_eq!(drawn(None, &responses), None);
        assert_eq!(drawn(Some(Hedging::new(3).delay(300 * MS)), &responses), None);
    }
}
