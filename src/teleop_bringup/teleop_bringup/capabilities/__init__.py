"""What works on this machine, found without importing anything that is native."""
