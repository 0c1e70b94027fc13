//! Decides who may send requests.

use http::{HeaderMap, HeaderName, Method, StatusCode, header};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The token, and the names of this server.
#[derive(Debug)]
pub(crate) struct Access {
    token: String,
    cookie: String,
    hosts: [String; 2],
}

/// The reason to refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: &'static str,
}

impl Access {
    pub(crate) fn new(port: u16, token: &str) -> Access {
        Access {
            token: token.to_owned(),
            cookie: format!("haft-watch-{port}"),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        }
    }

    /// Checks that a request is for this server, and not sent by another site.
    pub(crate) fn check_site(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let refuse = |status, message| Err(Refusal { status, message });
        let Some(host) = text(header::HOST).filter(|host| self.hosts.iter().any(|known| known == host))
        else {
            return refuse(StatusCode::MISDIRECTED_REQUEST, "the request is for another host");
        };
        let origin = text(header::ORIGIN);
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return refuse(StatusCode::FORBIDDEN, "requests of other origins are refused");
        }
        if method == Method::POST && origin.is_none() {
            return refuse(StatusCode::FORBIDDEN, "a request without an Origin header changes nothing");
        }
        match text(SEC_FETCH_SITE) {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => refuse(StatusCode::FORBIDDEN, "requests of other sites are refused"),
        }
    }

    /// Whether this is the host of a request for the token's page. Pages of other sites and files may link to it.
    pub(crate) fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| self.hosts.iter().any(|known| known == host))
    }

    /// Checks the cookie.
    pub(crate) fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let texts = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        if pairs.any(|(name, value)| name == self.cookie && self.is_token(value)) {
            return Ok(());
        }
        let message = "this page needs the address that 'haft watch' has printed, with its token";
        Err(Refusal { status: StatusCode::UNAUTHORIZED, message })
    }

    /// Compares a token in constant time, so that the response time does not reveal a correct prefix.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        let (given, token) = (given.as_bytes(), self.token.as_bytes());
        given.len() == token.len()
            && given.iter().zip(token).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }

    /// The value of the header that sets the cookie.
    pub(crate) fn set_cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), http::HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn requests_of_other_sites_are_refused() {
        let access = Access::new(80, "secret");
        let own = ("host", "127.0.0.1:80");
        let check = |pairs: &[_]| access.check_site(&Method::GET, &headers(pairs)).is_ok();
        assert!(check(&[own]));
        assert!(check(&[("host", "localhost:80"), ("origin", "http://localhost:80")]));
        assert!(check(&[own, ("sec-fetch-site", "same-origin")]));
        assert!(!check(&[]));
        assert!(!check(&[("host", "evil.example:80")]));
        assert!(!check(&[("host", "127.0.0.1:81")]));
        assert!(!check(&[own, ("origin", "http://localhost:80")]));
        assert!(!check(&[own, ("origin", "null")]));
        assert!(!check(&[own, ("sec-fetch-site", "cross-site")]));
        assert!(!check(&[own, ("sec-fetch-site", "same-site")]));
        let post = |pairs: &[_]| access.check_site(&Method::POST, &headers(pairs)).is_ok();
        assert!(!post(&[own]));
        assert!(post(&[own, ("origin", "http://127.0.0.1:80")]));
    }

    #[test]
    fn only_the_exact_cookie_is_accepted() {
        let access = Access::new(80, "secret");
        let check = |value| access.check_cookie(&headers(&[("cookie", value)])).is_ok();
        assert!(check("haft-watch-80=secret"));
        assert!(check("a=b; haft-watch-80=secret"));
        for wrong in ["haft-watch-80=secre", "haft-watch-80=secrets", "haft-watch-81=secret", "secret", ""] {
            assert!(!check(wrong), "{wrong}");
        }
        assert!(access.check_cookie(&HeaderMap::new()).is_err());
    }
}
