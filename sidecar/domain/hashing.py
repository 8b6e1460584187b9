"""The one hash function of the product: BLAKE2b, without the OpenSSL that comes with `hashlib`.

To load that takes a hook's start longer than all that it hashes.
"""

try:
    from _blake2 import blake2b
except ImportError:  # another Python than CPython may have it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
