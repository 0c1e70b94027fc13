echo 'it
