echo “hello”
cat <<EOF
  text
  EOF
