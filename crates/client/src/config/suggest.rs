//! What somebody may have meant who wrote a name that does not exist.
//!
//! Knows words only: the nearest by the number of letters that must change.

/// The word that is nearest to `wrong`, if one is near.
pub fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wrong.chars().count() / 3).max(1);
    let by_distance = words.into_iter().map(|word| (distance(wrong, word), word));
    by_distance.filter(|&(distance, _)| distance <= limit).min().map(|(_, word)| word)
}

/// How many letters must be put in, taken out, replaced or exchanged with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let cases = [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("server", "sever", 1)];
        for (a, b, expected) in cases {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_words_are_suggested() {
        let words = ["server", "recipient", "token"];
        assert_eq!(nearest("sever", words), Some("server"));
        assert_eq!(nearest("recipent", words), Some("recipient"));
        assert_eq!(nearest("colour", words), None);
    }
}
