//! The files of the page, which are part of the program.

use crate::reply::{Reply, bytes};

const PAGE: &str = include_str!("../page/index.html");

/// The page sends itself to the address without the token. The cookie is not sent if another site has opened this page, but it is
/// sent with a request of this page.
const ENTRY: &str =
    "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url=/\"><title>haft</title>";

const FILES: [(&str, &str, &str); 10] = [
    ("style.css", "text/css", include_str!("../page/style.css")),
    ("app.js", "text/javascript", include_str!("../page/app.js")),
    ("dom.js", "text/javascript", include_str!("../page/dom.js")),
    ("list.js", "text/javascript", include_str!("../page/list.js")),
    ("run.js", "text/javascript", include_str!("../page/run.js")),
    ("terminal.js", "text/javascript", include_str!("../page/terminal.js")),
    ("screen.js", "text/javascript", include_str!("../page/screen.js")),
    ("player.js", "text/javascript", include_str!("../page/player.js")),
    ("overlays.js", "text/javascript", include_str!("../page/overlays.js")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
];

/// The page, for every address of it.
pub(crate) fn page() -> Reply {
    bytes("text/html; charset=utf-8", PAGE)
}

/// The page that moves the token from the address to the cookie.
pub(crate) fn entry() -> Reply {
    bytes("text/html; charset=utf-8", ENTRY)
}

/// A file by its name.
pub(crate) fn file(name: &str) -> Option<Reply> {
    let (_, content_type, text) = FILES.iter().find(|(known, _, _)| *known == name)?;
    Some(bytes(content_type, *text))
}
