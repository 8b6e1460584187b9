"""BLAKE2b, the one hash function; it avoids loading OpenSSL."""

try:
    from _blake2 import blake2b
except ImportError:  # another Python than CPython may have it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
