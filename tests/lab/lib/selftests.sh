ensure_selftests() { SELFTESTS=; }
