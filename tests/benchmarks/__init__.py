"""The product against a bare floor, in one run: `make bench`. Never a test."""
