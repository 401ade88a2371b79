//! Recursion in a list of calls: rounds are taken out, and endless ones are recognised.
//!
//! What a recursive parser's stack looks like depends on how its input is nested: how deep, and in
//! what. So everything between the innermost and the outermost call of one function goes, and with
//! it all that recurs together with it: `leaf, value, object, value, array, value, object, main`
//! becomes `leaf, value, main`. This file knows only equality of functions and of places.

use std::collections::BTreeMap;

/// Which calls stay when the rounds of recursions are taken out; the innermost of each stays.
#[must_use]
pub fn without_rounds<F: Ord>(functions: &[F]) -> Vec<bool> {
    let mut outermost = BTreeMap::new();
    for (index, function) in functions.iter().enumerate() {
        outermost.insert(function, index);
    }
    let mut stays = vec![false; functions.len()];
    let mut index = 0;
    while index < functions.len() {
        stays[index] = true;
        // The region of this recursion: until no function in it is called from outside of it.
        let (mut end, mut inside) = (index, index);
        while inside <= end {
            end = end.max(outermost[&functions[inside]]);
            inside += 1;
        }
        index = end + 1;
    }
    stays
}

/// Which calls are the first of those whose place is there at least twice.
#[must_use]
pub fn repeating<P: Ord>(places: &[P]) -> Vec<bool> {
    let mut counts: BTreeMap<&P, usize> = BTreeMap::new();
    for place in places {
        *counts.entry(place).or_default() += 1;
    }
    // Taken out once it is met, so that only the first is marked.
    places.iter().map(|place| counts.remove(place).is_some_and(|count| count > 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        let stays = without_rounds(&letters);
        letters.iter().zip(stays).filter(|(_, stays)| *stays).map(|(letter, _)| *letter).collect()
    }

    #[test]
    fn depth_and_shape_of_a_recursion_do_not_matter() {
        assert_eq!(kept(""), "");
        assert_eq!(kept("abc"), "abc");
        for text in ["lvm", "lvovm", "lvovavm", "lvavovavm", "lvvvvm"] {
            assert_eq!(kept(text), "lvm", "{text}");
        }
        assert_eq!(kept("aaaa"), "a");
        assert_eq!(kept("xababyababm"), "xam");
        assert_eq!(kept("ababcdcde"), "ace");
        assert_eq!(kept("lebsebsm"), "lem");
    }

    #[test]
    fn the_repeating_part_is_found_from_anywhere() {
        let of = |text: &str| {
            let letters: Vec<char> = text.chars().collect();
            let marks = repeating(&letters);
            let mut found: Vec<char> =
                letters.iter().zip(marks).filter(|(_, mark)| *mark).map(|(l, _)| *l).collect();
            found.sort_unstable();
            String::from_iter(found)
        };
        assert_eq!(of("labcabcabc"), "abc");
        assert_eq!(of("bcabcabcabc"), "abc");
        assert_eq!(of("abacabacab"), "abc");
        assert_eq!(of("abc"), "");
    }
}
