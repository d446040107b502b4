"""What operators read: counters, histograms and log lines; and how far a call has come."""
