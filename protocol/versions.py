"""The version of the product: its only place, read by whatever builds or names it."""

VERSION = "0.1.0"
