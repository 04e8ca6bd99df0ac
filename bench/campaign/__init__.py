"""Campaigns that look for errors for as long as they are given: ``python -m bench.campaign --help``.

A part is a module with a function ``run(record, seconds)`` that looks for errors of one kind, counts what it did and
notes the problems it found in a :class:`bench.campaign.record.Record`.
"""
