if [ -f x ]; then
    echo yes
