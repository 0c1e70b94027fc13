//! What was probably meant.

/// The name of `names` that is most like `wrong`, if one is like it at all.
///
/// ```
/// assert_eq!(haft_config::nearest("modle", ["model", "role", "prompt"]), Some("model"));
/// assert_eq!(haft_config::nearest("zebra", ["model", "role"]), None);
/// ```
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    all_nearest(wrong, names).into_iter().next()
}

/// The few names that are most like `wrong`, the most like it first.
///
/// ```
/// assert_eq!(haft_config::all_nearest("file_rite", ["file_write", "glob", "file_read"]), ["file_write", "file_read"]);
/// ```
pub fn all_nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    const ALIKE: f64 = 0.75;
    /// What is so much less alike than the best was hardly meant.
    const BEHIND: f64 = 0.15;
    const MOST: usize = 3;
    let lower = wrong.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        // Swapped letters in a short word are one slip, though they leave little in place.
        let longer = lower.chars().count().max(name.chars().count()).max(1) as f64;
        let slips = 1.0 - strsim::osa_distance(&lower, &name) as f64 / longer + 0.1;
        strsim::jaro_winkler(&lower, &name).max(slips)
    };
    let mut alike: Vec<(f64, &str)> = names.into_iter().map(|name| (likeness(name), name)).collect();
    // Of those that are equally alike the last counts, as in every list of which later ones win.
    alike.reverse();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    let least = alike.first().map_or(ALIKE, |best| best.0 - BEHIND).max(ALIKE);
    alike
        .into_iter()
        .take_while(|(likeness, _)| *likeness >= least)
        .map(|(_, name)| name)
        .take(MOST)
        .collect()
}

/// The hint for an unknown name: the nearest one, or all there are.
pub fn suggest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> Option<String> {
    if let Some(name) = nearest(wrong, names.clone()) {
        return Some(format!("did you mean \"{name}\"?"));
    }
    let all: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    (!all.is_empty()).then(|| format!("there is {}", all.join(", ")))
}
