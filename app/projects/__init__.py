"""Projects, their budgets and the ledger of spend."""
