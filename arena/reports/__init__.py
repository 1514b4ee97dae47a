"""The gallery: a report is a value (`model`), and each format shows that value; nothing here reads or decides."""
