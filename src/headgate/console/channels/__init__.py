"""Ways to reach a person that no agent can read: a dialog on the desktop, a webhook, a mail."""
