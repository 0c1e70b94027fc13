echo a >
