"""Text of files that people upload; pure."""


def decode_text(content: bytes) -> str:
    """UTF-8, with or without a byte order mark, else GB18030, in which spreadsheets and editors in China save.

    Raises ValueError for what is neither.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("gb18030")
