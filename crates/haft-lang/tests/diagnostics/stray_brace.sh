echo; }
