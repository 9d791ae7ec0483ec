//! A picture of latencies: how long the slowest calls take, to the right ever fewer of them.

use std::fmt::Write as _;
use std::time::Duration;

/// Calls of one kind.
#[derive(Debug)]
#[non_exhaustive]
pub struct Curve {
    /// The name of these calls.
    pub name: String,
    /// Their latencies, the shortest first.
    sorted: Vec<Duration>,
}

impl Curve {
    /// Calls that took so long.
    #[must_use]
    pub fn new(name: impl Into<String>, mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        Self { name: name.into(), sorted: latencies }
    }

    /// These under another name.
    #[must_use]
    pub fn called(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// So much of them took no longer than that, such as 0.99 of them.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the place is between the first and the last"
    )]
    pub fn at(&self, share: f64) -> Duration {
        let place = (self.sorted.len() as f64 * share).ceil() as usize;
        self.sorted.get(place.saturating_sub(1)).or(self.sorted.last()).copied().unwrap_or_default()
    }
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 350.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 52.0;
/// How many nines there are at the right edge: 4 are 99.99 %.
const NINES: f64 = 4.0;
/// From 3 ms to 3 s.
const DECADES: (f64, f64) = (0.5, 3.5);
const SHARES: [(f64, &str); 5] =
    [(0.0, "all"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %")];
const TIMES: [(f64, &str); 3] = [(1.0, "10 ms"), (2.0, "100 ms"), (3.0, "1 s")];

const STYLE: &str = "\
svg{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:13px}
.ground{fill:#ffffff}.ink{fill:#1f2328}.title{font-size:17px;font-weight:600}.small{font-size:12px;fill:#59636e}
.grid{stroke:#d1d9e0;stroke-width:1}.curve{fill:none;stroke-width:2.5}
.c0{stroke:#d55e00}.c1{stroke:#009e73}.c2{stroke:#0969da;stroke-dasharray:7 4}
@media(prefers-color-scheme:dark){.ground{fill:#0d1117}.ink{fill:#f0f6fc}.small{fill:#9198a1}.grid{stroke:#2a3038}
.c1{stroke:#1fb58a}.c2{stroke:#58a6ff}}
";

fn across(nines: f64) -> f64 {
    LEFT + nines / NINES * (WIDTH - LEFT - RIGHT)
}

fn up(latency: Duration) -> f64 {
    let decade = (latency.as_secs_f64() * 1000.0).max(0.001).log10();
    let share = (decade - DECADES.0) / (DECADES.1 - DECADES.0);
    HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
}

/// The picture, with a legend in the order of the curves, of which it has three styles.
#[must_use]
pub fn picture(title: &str, caption: &str, curves: &[Curve]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\" aria-labelledby=\"title caption\">\n<title id=\"title\">{title}</title>\n\
         <desc id=\"caption\">{caption}</desc>\n<style>\n{STYLE}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text class=\"ink title\" x=\"24\" y=\"32\">{title}</text>\n<text class=\"small\" x=\"24\" y=\"50\">{caption}</text>\n"
    );
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for (nines, text) in SHARES {
        let x = across(nines);
        let _infallible = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
             <text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            bottom + 18.0
        );
    }
    for (decade, text) in TIMES {
        let y = up(Duration::from_secs_f64(10_f64.powf(decade) / 1000.0));
        let _infallible = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
             <text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 8.0,
            y + 4.0
        );
    }
    for (place, curve) in curves.iter().enumerate() {
        let points: Vec<String> = (0..=200_u8)
            .map(|step| {
                let nines = f64::from(step) / 200.0 * NINES;
                format!("{:.1},{:.1}", across(nines), up(curve.at(1.0 - 10_f64.powf(-nines))))
            })
            .collect();
        let y = TOP + 16.0 + 24.0 * f64::from(u8::try_from(place).unwrap_or(u8::MAX));
        let _infallible = writeln!(
            svg,
            "<polyline class=\"curve c{place}\" points=\"{}\"/>\n\
             <line class=\"curve c{place}\" x1=\"{:.1}\" y1=\"{y}\" x2=\"{:.1}\" y2=\"{y}\"/>\
             <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            points.join(" "),
            right + 16.0,
            right + 44.0,
            right + 52.0,
            y + 4.0,
            curve.name
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_latencies() {
        let curve = Curve::new("", (1..=1000).rev().map(Duration::from_millis).collect());
        let at = [0.0, 0.5, 0.99, 0.999, 1.0].map(|share| curve.at(share).as_millis());
        assert_eq!(at, [1, 500, 990, 999, 1000]);
        assert_eq!(Curve::new("", Vec::new()).at(0.5), Duration::ZERO);
    }
}
