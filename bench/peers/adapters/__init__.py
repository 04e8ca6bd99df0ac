"""One module for each system. It runs in the system's environment, which has the standard library and the system."""
