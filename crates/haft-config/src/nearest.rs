//! What was probably meant.

/// The name of `names` that is most like `wrong`, if one is like it at all.
///
/// ```
/// assert_eq!(haft_config::nearest("modle", ["model", "role", "prompt"]), Some("model"));
/// assert_eq!(haft_config::nearest("zebra", ["model", "role"]), None);
/// ```
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    const ALIKE: f64 = 0.75;
    let lower = wrong.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        // Swapped letters in a short word are one slip, though they leave little in place.
        let longer = lower.chars().count().max(name.chars().count()).max(1) as f64;
        let slips = 1.0 - strsim::osa_distance(&lower, &name) as f64 / longer + 0.1;
        strsim::jaro_winkler(&lower, &name).max(slips)
    };
    let candidates = names.into_iter().map(|name| (likeness(name), name));
    let best = candidates.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// The hint for an unknown name: the nearest one, or all there are.
pub fn suggest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> Option<String> {
    if let Some(name) = nearest(wrong, names.clone()) {
        return Some(format!("did you mean \"{name}\"?"));
    }
    let all: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    (!all.is_empty()).then(|| format!("there is {}", all.join(", ")))
}
