"""A report as pages that work anywhere: from a disk, by mail, on any web space, without a request to anybody else.

Made by Jinja2, which escapes all text; a strict Content-Security-Policy stands in every page, so no style or script is
ever in an attribute, and a bot's name can do nothing but be read.
"""
