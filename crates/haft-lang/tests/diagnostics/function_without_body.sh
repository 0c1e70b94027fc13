f()
echo
