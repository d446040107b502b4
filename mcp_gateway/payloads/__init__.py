"""What tools answer: typed fields for programs and text for models, with the same facts in both."""
