x=$(cat <<E
body
