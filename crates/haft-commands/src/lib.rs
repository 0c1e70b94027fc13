//! Commands that run in-process and only use a session.
