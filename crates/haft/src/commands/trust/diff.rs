//! The difference between two texts, line by line.

/// Texts with more lines are not compared.
const MAX_LINES: usize = 4000;
/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// The changed lines with `-` and `+`, and some lines around them. Returns `None` if a text is too long to compare.
pub(super) fn unified(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        return None;
    }
    let steps = steps(&old, &new);
    let is_near = |index: usize| {
        let first = index.saturating_sub(CONTEXT);
        steps.iter().skip(first).take(index - first + CONTEXT + 1).any(|(mark, _)| *mark != ' ')
    };
    let mut text = String::new();
    let mut skipped = false;
    for (index, (mark, line)) in steps.iter().enumerate() {
        if is_near(index) {
            text.push_str(if skipped { "…\n" } else { "" });
            text.push_str(&format!("{mark}{line}\n"));
        }
        skipped = !is_near(index);
    }
    Some(text)
}

/// All lines in order, each with `-`, `+` or a space: the longest common subsequence is unchanged.
fn steps<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    let width = new.len() + 1;
    // The length of the longest common subsequence of the rests that start at each pair of lines.
    let mut common = vec![0_u16; (old.len() + 1) * width];
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            common[one * width + other] = match old[one] == new[other] {
                true => common[(one + 1) * width + other + 1] + 1,
                false => common[(one + 1) * width + other].max(common[one * width + other + 1]),
            };
        }
    }
    let (mut one, mut other) = (0, 0);
    let mut steps = Vec::new();
    while one < old.len() || other < new.len() {
        if one < old.len() && other < new.len() && old[one] == new[other] {
            steps.push((' ', old[one]));
            (one, other) = (one + 1, other + 1);
        } else if other == new.len()
            || (one < old.len() && common[(one + 1) * width + other] >= common[one * width + other + 1])
        {
            steps.push(('-', old[one]));
            one += 1;
        } else {
            steps.push(('+', new[other]));
            other += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_marked_and_distant_lines_left_out() {
        let old: String = (0..20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("\n10\n", "\nten\n").replace("19\n", "19\n20\n");
        let expected = "…\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n…\n 17\n 18\n 19\n+20\n";
        assert_eq!(unified(&old, &new).as_deref(), Some(expected));
        assert_eq!(unified("", "a\n").as_deref(), Some("+a\n"));
        assert_eq!(unified("a\n", "a\n").as_deref(), Some(""));
    }
}
