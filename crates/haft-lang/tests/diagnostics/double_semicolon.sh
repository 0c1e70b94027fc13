echo a;; echo b
