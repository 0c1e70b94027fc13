//! Named sessions, whose state lasts from one call to the next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedMutexGuard;

use super::owner::STATELESS;

/// Limits on named sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// The maximum number of sessions.
    pub count: usize,
    /// A session that was not used for this long is ended.
    pub age: Duration,
}

impl Default for SessionLimits {
    /// 64 sessions, eight hours.
    fn default() -> SessionLimits {
        SessionLimits { count: 64, age: Duration::from_secs(8 * 3600) }
    }
}

/// The named sessions of all clients. Generic over the session type for tests.
#[derive(Debug)]
pub(crate) struct SessionTable<S> {
    limits: SessionLimits,
    /// By owner and name.
    slots: Mutex<BTreeMap<(u64, String), SessionSlot<S>>>,
}

/// Holds a session, or `None` while a call uses it.
pub(crate) type SessionCell<S> = Arc<tokio::sync::Mutex<Option<S>>>;
/// Exclusive access to a session.
pub(crate) type SessionGuard<S> = OwnedMutexGuard<Option<S>>;

#[derive(Debug)]
struct SessionSlot<S> {
    state: SessionCell<S>,
    used: Instant,
}

impl<S> SessionTable<S> {
    pub(crate) fn new(limits: SessionLimits) -> SessionTable<S> {
        SessionTable { limits, slots: Mutex::default() }
    }

    /// Whether a client has a session of this name.
    pub(crate) fn has(&self, owner: u64, name: &str) -> bool {
        self.lock().contains_key(&(owner, name.to_owned()))
    }

    /// Finds or creates the session of this name that belongs to a client. The lock in the result serializes calls of
    /// one session.
    pub(crate) fn claim(&self, name: &str, owner: u64, now: Instant) -> Result<SessionCell<S>, String> {
        let mut slots = self.lock();
        let key = (owner, name.to_owned());
        if let Some(slot) = slots.get_mut(&key) {
            slot.used = now;
            return Ok(slot.state.clone());
        }
        let names = slots.keys().filter(|(of, _)| *of == owner).map(|(_, name)| name.as_str());
        let names: Vec<&str> = names.collect();
        let count = names.len();
        if count >= self.limits.count {
            let names = if owner == STATELESS { String::new() } else { format!(": {}", names.join(", ")) };
            return Err(format!(
                "too many sessions: {count} exist\nhint: use one of them, or end one with 'end_session'{names}"
            ));
        }
        let state = Arc::default();
        slots.insert(key, SessionSlot { state: Arc::clone(&state), used: now });
        Ok(state)
    }

    /// Removes a session. A call that uses it continues.
    pub(crate) fn remove(&self, owner: u64, name: &str) -> Option<SessionCell<S>> {
        self.lock().remove(&(owner, name.to_owned())).map(|slot| slot.state)
    }

    /// Removes unused sessions that exceed the maximum age. Dropping them ends them.
    #[must_use]
    pub(crate) fn take_old(&self, now: Instant) -> Vec<SessionCell<S>> {
        let age = self.limits.age;
        self.extract(|_, slot| {
            now.saturating_duration_since(slot.used) >= age && slot.state.try_lock().is_ok()
        })
    }

    /// Removes the sessions of matching owners.
    #[must_use]
    pub(crate) fn take(&self, whose: impl Fn(u64) -> bool) -> Vec<SessionCell<S>> {
        self.extract(|owner, _| whose(owner))
    }

    /// All sessions.
    pub(crate) fn all(&self) -> Vec<SessionCell<S>> {
        self.lock().values().map(|slot| slot.state.clone()).collect()
    }

    fn extract(&self, which: impl Fn(u64, &SessionSlot<S>) -> bool) -> Vec<SessionCell<S>> {
        self.lock()
            .extract_if(.., |(owner, _), slot| which(*owner, slot))
            .map(|(_, slot)| slot.state)
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(u64, String), SessionSlot<S>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_keep_their_state_and_are_capped() {
        let now = Instant::now();
        let limits = SessionLimits { count: 2, age: Duration::from_secs(10) };
        let sessions: SessionTable<u32> = SessionTable::new(limits);
        *sessions.claim("a", 1, now).unwrap().try_lock_owned().unwrap() = Some(7);
        assert_eq!(*sessions.claim("a", 1, now).unwrap().try_lock_owned().unwrap(), Some(7));
        assert_eq!(
            *sessions.claim("a", 2, now).unwrap().try_lock_owned().unwrap(),
            None,
            "of another client"
        );
        sessions.claim("b", 1, now).unwrap();
        assert!(sessions.claim("c", 1, now).unwrap_err().contains("'end_session': a, b"));
        assert!(sessions.remove(1, "a").is_some() && sessions.remove(1, "a").is_none());
        assert_eq!(*sessions.claim("a", 1, now).unwrap().try_lock_owned().unwrap(), None);
        assert_eq!(sessions.take(|owner| owner == 1).len(), 2);
        sessions.claim("c", 1, now).unwrap();
        assert_eq!(sessions.take(|owner| owner == 2).len(), 1);
    }

    #[test]
    fn sessions_in_use_do_not_expire() {
        let now = Instant::now();
        let sessions: SessionTable<u32> =
            SessionTable::new(SessionLimits { count: 1, age: Duration::from_secs(10) });
        let state = sessions.claim("a", 1, now).unwrap().try_lock_owned().unwrap();
        assert!(sessions.take_old(now + Duration::from_secs(60)).is_empty());
        assert!(sessions.claim("b", 1, now).is_err());
        drop(state);
        assert_eq!(sessions.take_old(now + Duration::from_secs(60)).len(), 1);
        assert!(sessions.claim("b", 1, now).is_ok());
    }
}
