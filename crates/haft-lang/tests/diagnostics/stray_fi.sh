echo a
fi
