"""Teams, members, sessions, tokens and the audit trail."""
