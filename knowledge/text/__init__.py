"""Pure work on texts: pieces, headings, tokens, languages, words and places."""
