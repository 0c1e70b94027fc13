//! The hosts of `--on ssh:…`.

/// A host and the number of items that it runs at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSlots {
    /// The name, as `ssh` takes it.
    pub name: String,
    /// The number of items. `None` means the number of its processors.
    pub slots: Option<usize>,
}

/// Parses `HOST[,HOST=SLOTS…]`.
///
/// # Errors
/// A message that names the wrong part.
///
/// ```
/// let hosts = haft_scale::parse_hosts("a,user@b=4").unwrap();
/// assert_eq!((hosts[1].name.as_str(), hosts[1].slots), ("user@b", Some(4)));
/// assert!(haft_scale::parse_hosts("a=x").is_err());
/// ```
pub fn parse_hosts(text: &str) -> Result<Vec<HostSlots>, String> {
    let hosts = text.split(',').map(str::trim).map(parse_host).collect::<Result<Vec<_>, _>>()?;
    require_unique(hosts)
}

/// Parses a file with one host per line: `HOST`, `HOST=SLOTS` or `HOST SLOTS`. Empty lines and comments after `#` are ignored.
///
/// # Errors
/// A message that names the wrong line.
pub fn parse_host_file(text: &str) -> Result<Vec<HostSlots>, String> {
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let joined = match *words.as_slice() {
            [] => continue,
            [host] => host.to_owned(),
            [host, slots] if !host.contains('=') => format!("{host}={slots}"),
            _ => return Err(format!("line {number}: expected 'HOST', 'HOST=SLOTS' or 'HOST SLOTS'")),
        };
        hosts.push(parse_host(&joined).map_err(|problem| format!("line {number}: {problem}"))?);
    }
    if hosts.is_empty() {
        return Err("there is no host".to_owned());
    }
    require_unique(hosts)
}

fn parse_host(text: &str) -> Result<HostSlots, String> {
    let (name, slots) = match text.rsplit_once('=') {
        Some((name, slots)) => (name, Some(slots)),
        None => (text, None),
    };
    if name.is_empty() {
        return Err("the name of a host is missing".to_owned());
    }
    // ssh would take the name as an option.
    if name.starts_with('-') || name.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return Err(format!("invalid host name '{name}'"));
    }
    let parse = |text: &str| text.parse().ok().filter(|slots| *slots > 0);
    let slots = match slots {
        Some(text) => Some(parse(text).ok_or_else(|| {
            format!("invalid number of items '{text}' for host '{name}': expected an integer of at least 1")
        })?),
        None => None,
    };
    Ok(HostSlots { name: name.to_owned(), slots })
}

fn require_unique(hosts: Vec<HostSlots>) -> Result<Vec<HostSlots>, String> {
    let mut names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("host '{}' is given twice; 'HOST=SLOTS' sets how much it runs", pair[0])),
        None => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_hosts_has_comments_and_slots() {
        let hosts = parse_host_file("# mine\n a\nb 4 # fast\nc=2\n\n").expect("hosts");
        let shown: Vec<_> = hosts.iter().map(|host| (host.name.as_str(), host.slots)).collect();
        assert_eq!(shown, [("a", None), ("b", Some(4)), ("c", Some(2))]);
    }

    #[test]
    fn wrong_hosts_are_named() {
        for (text, problem) in [
            ("", "the name of a host is missing"),
            ("a,,b", "the name of a host is missing"),
            ("-oProxyCommand=x", "invalid host name '-oProxyCommand'"),
            ("a=0", "invalid number of items '0' for host 'a': expected an integer of at least 1"),
            ("a,a=2", "host 'a' is given twice; 'HOST=SLOTS' sets how much it runs"),
        ] {
            assert_eq!(parse_hosts(text).expect_err(text), problem);
        }
        assert_eq!(
            parse_host_file("a\nb c d\n").expect_err("three words"),
            "line 2: expected 'HOST', 'HOST=SLOTS' or 'HOST SLOTS'"
        );
    }
}
