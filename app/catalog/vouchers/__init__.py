"""Vouchers: money of a provider that a team may spend within some days, and what is left of it."""
