if [[ -f x; then echo; fi
