ensure_guest() { :; }
