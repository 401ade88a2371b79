//! Small bar charts as SVG: a sparkline for a line of the list, days for a ticket.
//!
//! Always: shapes come from numbers alone, colours from the page's style, and a sentence says the
//! same to those who do not see them.

use std::fmt::Write;

use crate::clock::Moment;
use crate::store::Day;

/// How many days the chart of a ticket shows at most.
const MOST_DAYS: i64 = 90;

/// Thirty days in little room.
pub fn line(counts: &[i64]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0);
    let total: i64 = counts.iter().sum();
    let events = if total == 1 { "event" } else { "events" };
    let (wide, high) = (3.0, 22.0);
    let width = wide * counts.len() as f64;
    let mut svg = format!(
        "<svg class=\"spark\" viewBox=\"0 0 {width:.0} {high:.0}\" width=\"{width:.0}\" \
         height=\"{high:.0}\" role=\"img\" aria-label=\"{total} {events} in {} days\">",
        counts.len()
    );
    bars(&mut svg, counts, most, wide, high, 0.0);
    svg.push_str("</svg>");
    svg
}

/// Bars from left to right. A day with anything has a bar that can be seen.
fn bars(svg: &mut String, counts: &[i64], most: i64, wide: f64, high: f64, left: f64) {
    for (at, &count) in counts.iter().enumerate() {
        let x = left + wide * at as f64;
        if count <= 0 {
            // A line at the bottom shows that the day was there.
            let _ = write!(
                svg,
                "<rect class=\"none\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"1\"/>",
                high - 1.0,
                wide - 1.0
            );
            continue;
        }
        let tall = (count as f64 / most.max(1) as f64 * (high - 1.0)).max(2.0);
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            high - tall,
            wide - 1.0
        );
    }
}

/// The last days of a ticket, with the most in a day and both ends of the axis.
pub fn days(days: &[Day], today: i64) -> String {
    let first =
        days.first().map_or(today, |day| day.day).max(today - MOST_DAYS + 1).min(today - 29);
    let length = usize::try_from(today - first + 1).unwrap_or(0);
    let mut counts = vec![0; length];
    for day in days {
        if let Some(count) = usize::try_from(day.day - first).ok().and_then(|at| counts.get_mut(at))
        {
            *count += day.count;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let total: i64 = counts.iter().sum();
    let (width, high, left) = (336.0, 96.0, 34.0);
    let wide = (width - left) / length.max(1) as f64;
    let (begin, end) = (Moment::of_day(first).date(), Moment::of_day(today).date());
    let mut svg = format!(
        "<svg class=\"days\" viewBox=\"0 0 {width:.0} 120\" role=\"img\" \
         aria-label=\"{total} events from {begin} to {end}, at most {most} in a day\">"
    );
    let _ = write!(
        svg,
        "<line x1=\"{left}\" y1=\"1\" x2=\"{width}\" y2=\"1\"/>\
         <text x=\"{:.0}\" y=\"10\" text-anchor=\"end\">{most}</text>\
         <text x=\"{:.0}\" y=\"{high}\" text-anchor=\"end\">0</text>\
         <text x=\"{left}\" y=\"114\">{begin}</text>\
         <text x=\"{width}\" y=\"114\" text-anchor=\"end\">{end}</text>",
        left - 8.0,
        left - 8.0
    );
    bars(&mut svg, &counts, most, wide, high, left);
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heights(svg: &str) -> Vec<f64> {
        let rects = svg.split("<rect x=").skip(1);
        rects.map(|rect| rect.split("height=\"").nth(1).unwrap()).map(number).collect()
    }

    fn number(text: &str) -> f64 {
        text.split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn bars_are_as_high_as_their_counts() {
        let svg = line(&[0, 1, 1000, 500]);
        assert_eq!(heights(&svg), [2.0, 21.0, 10.5]);
        assert!(svg.contains("aria-label=\"1501 events in 4 days\""), "{svg}");
        assert!(line(&[1]).contains("1 event in"));
        assert!(line(&[]).contains("0 events in 0 days"));
    }

    #[test]
    fn a_chart_ends_today_and_has_a_month_at_least() {
        let chart = days(&[Day { day: 20_000, count: 4 }, Day { day: 20_001, count: 2 }], 20_001);
        assert_eq!(chart.matches("<rect").count(), 30);
        assert_eq!(heights(&chart), [95.0, 47.5]);
        assert!(chart.contains("6 events from 2024-09-06 to 2024-10-05"), "{chart}");
        let old = days(&[Day { day: 1, count: 9 }], 20_001);
        assert_eq!(old.matches("<rect").count(), 90, "what is older is not shown");
        assert!(old.contains("0 events"));
        assert_eq!(days(&[], 20_001).matches("<rect").count(), 30);
    }
}
