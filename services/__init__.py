"""The services of Attest and what they share."""
