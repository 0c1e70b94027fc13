//! JSON tools: discovery, registry, calls and their envelope.
