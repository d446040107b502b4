"""What operators read: counters, histograms and log lines."""
