"""How good contributions are, and how far those who judge them are trusted."""
