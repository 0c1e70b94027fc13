//! Suggestions for misspelt names.

/// Returns the name most similar to `wrong`, if any is similar enough.
///
/// ```
/// assert_eq!(haft_config::nearest("modle", ["model", "role", "prompt"]), Some("model"));
/// assert_eq!(haft_config::nearest("zebra", ["model", "role"]), None);
/// ```
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    all_nearest(wrong, names).into_iter().next()
}

/// Returns up to three names similar to `wrong`, the most similar first.
///
/// ```
/// assert_eq!(haft_config::all_nearest("file_rite", ["file_write", "glob", "file_read"]), ["file_write", "file_read"]);
/// ```
pub fn all_nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    /// Minimum similarity of a suggestion.
    const MIN_SIMILARITY: f64 = 0.75;
    /// Maximum distance to the best suggestion.
    const MAX_SIMILARITY_GAP: f64 = 0.15;
    const MAX_SUGGESTIONS: usize = 3;
    let lower = wrong.to_lowercase();
    let similarity = |name: &str| {
        let name = name.to_lowercase();
        // Two swapped letters in a short word count as one mistake, although few letters stay in place.
        let longer = lower.chars().count().max(name.chars().count()).max(1) as f64;
        let slips = 1.0 - strsim::osa_distance(&lower, &name) as f64 / longer + 0.1;
        strsim::jaro_winkler(&lower, &name).max(slips)
    };
    let mut ranked: Vec<(f64, &str)> = names.into_iter().map(|name| (similarity(name), name)).collect();
    // Of equally similar names the last wins, like the last layer of a configuration.
    ranked.reverse();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let least = ranked.first().map_or(MIN_SIMILARITY, |best| best.0 - MAX_SIMILARITY_GAP).max(MIN_SIMILARITY);
    ranked
        .into_iter()
        .take_while(|(similarity, _)| *similarity >= least)
        .map(|(_, name)| name)
        .take(MAX_SUGGESTIONS)
        .collect()
}

/// Returns a hint for an unknown name: the nearest valid name, or all of them.
pub fn suggest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> Option<String> {
    if let Some(name) = nearest(wrong, names.clone()) {
        return Some(format!("did you mean '{name}'?"));
    }
    let all: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    match all.as_slice() {
        [] => None,
        [only] => Some(format!("expected {only}")),
        _ => Some(format!("expected one of {}", all.join(", "))),
    }
}
