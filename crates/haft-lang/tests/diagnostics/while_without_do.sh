while true
  echo
done
