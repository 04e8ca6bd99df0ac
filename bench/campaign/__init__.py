"""Campaigns that look for errors for as long as they are given: one command each, with a time budget and a report."""
