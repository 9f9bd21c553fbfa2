"""`python -m scripts.pages`: writes the pages that are made from the code, and says which have changed."""

from pathlib import Path

from scripts.pages import cli, man, reference

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[Path, str]:
    """What each page should be."""
    found = {cli.PAGE: cli.page(), man.PAGE: man.page()}
    return found | {ROOT / "docs" / "reference" / name: text for name, text in reference.pages().items()}


def main() -> None:
    for path, text in pages().items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
