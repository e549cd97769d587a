"""Boxes of pixels, and where they lie when a picture is turned upright."""

from dataclasses import dataclass

from demosaic_ntc.io.pixels import unorient_point


@dataclass(frozen=True, slots=True)
class PixelBox:
    """Rows from top to bottom and columns from left to right, the last ones left out."""

    top: int
    bottom: int
    left: int
    right: int

    @classmethod
    def of(cls, size: tuple[int, int]) -> "PixelBox":
        """All of a picture of this height and width."""
        return cls(0, size[0], 0, size[1])

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as an index."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def is_empty(self) -> bool:
        """Whether no pixel lies in it."""
        return self.bottom <= self.top or self.right <= self.left

    def within(self, size: tuple[int, int]) -> "PixelBox":
        """The part that lies in a picture of this height and width."""
        top, left = max(self.top, 0), max(self.left, 0)
        return PixelBox(top, max(min(self.bottom, size[0]), top), left, max(min(self.right, size[1]), left))

    def both(self, other: "PixelBox") -> "PixelBox":
        """What lies in another box, too."""
        top, left = max(self.top, other.top), max(self.left, other.left)
        return PixelBox(top, min(self.bottom, other.bottom), left, min(self.right, other.right))

    def relative_to(self, other: "PixelBox") -> "PixelBox":
        """The box counted from the corner of another."""
        return PixelBox(
            self.top - other.top, self.bottom - other.top, self.left - other.left, self.right - other.left
        )

    def halve(self) -> "PixelBox":
        """The pixels of half the size that are made of it."""
        return PixelBox(self.top // 2, -(-self.bottom // 2), self.left // 2, -(-self.right // 2))

    def upright(self, size: tuple[int, int], orientation: int) -> "PixelBox":
        """Where a box of stored pixels lies in the picture as it is seen; `size` is the stored one's."""
        seen = size[::-1] if orientation >= 5 else size
        back = {6: 8, 8: 6}.get(orientation, orientation)
        row, column = unorient_point((self.top, self.left), seen, back)
        last_row, last_column = unorient_point((self.bottom - 1, self.right - 1), seen, back)
        rows, columns = sorted((row, last_row)), sorted((column, last_column))
        return PixelBox(rows[0], rows[1] + 1, columns[0], columns[1] + 1)

    def tiles(self, side: int) -> list[tuple[int, int]]:
        """Columns and rows of the square tiles that it touches."""
        columns = range(self.left // side, -(-self.right // side))
        rows = range(self.top // side, -(-self.bottom // side))
        return [(column, row) for row in rows for column in columns]

    def plain(self) -> list[int]:
        """The box as a list for JSON."""
        return [self.top, self.bottom, self.left, self.right]
