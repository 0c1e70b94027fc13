ls |
